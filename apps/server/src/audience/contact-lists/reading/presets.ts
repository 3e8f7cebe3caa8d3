import { plainTitle } from './phone-names.ts';

/** How a program heads the columns of the contacts that it exports. */
interface Preset {
  /** Titles that together are found in its files alone. */
  signature: readonly string[];
  /** The person's own phones, the best first. */
  phones: readonly string[];
  /** The parts of a name; of those that are there. */
  names: readonly string[];
  /** What parts several numbers of one cell. */
  separator?: string;
}

const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8];

/** Each program by the header of its files; of several that fit the first counts. */
const PRESETS: readonly Preset[] = [
  {
    // Google Contacts, 2024 and later.
    signature: ['Phone 1 - Value', 'Phone 1 - Label'],
    phones: NUMBERS.map((number) => `Phone ${number} - Value`),
    names: ['First Name', 'Middle Name', 'Last Name'],
    separator: ':::',
  },
  {
    // Google Contacts before that.
    signature: ['Phone 1 - Value', 'Phone 1 - Type'],
    phones: NUMBERS.map((number) => `Phone ${number} - Value`),
    names: ['Name'],
    separator: ':::',
  },
  {
    // Pipedrive
    signature: ['Person - Name'],
    phones: ['Mobile', 'Work', 'Home', 'Other'].map((kind) => `Person - Phone - ${kind}`).concat('Person - Phone'),
    names: ['Person - Name'],
  },
  {
    // Outlook
    signature: ['First Name', 'Business Phone', 'Home Phone', 'Mobile Phone'],
    phones: [
      ...['Mobile Phone', 'Primary Phone', 'Home Phone', 'Home Phone 2'],
      ...['Business Phone', 'Business Phone 2', 'Other Phone', 'Car Phone'],
    ],
    names: ['First Name', 'Middle Name', 'Last Name'],
  },
  {
    // Zoho CRM
    signature: ['Record Id', 'Contact Owner', 'Phone', 'Mobile'],
    phones: ['Phone', 'Mobile', 'Home Phone', 'Other Phone'],
    names: ['Full Name'],
  },
  {
    // HubSpot
    signature: ['Record ID', 'Phone Number', 'Contact owner'],
    phones: ['Phone Number', 'Mobile Phone Number', 'WhatsApp Phone Number'],
    names: ['First Name', 'Last Name'],
  },
  {
    // HubSpot, contacts among other records
    signature: ['Record ID - Contact'],
    phones: ['Phone Number', 'Mobile Phone Number', 'WhatsApp Phone Number'],
    names: ['First Name', 'Last Name'],
  },
  {
    // Salesforce, Data Loader
    signature: ['AccountId', 'FirstName', 'LastName'],
    phones: ['Phone', 'MobilePhone', 'HomePhone', 'OtherPhone'],
    names: ['FirstName', 'LastName'],
  },
  {
    // Salesforce, reports
    signature: ['Account Name', 'First Name', 'Last Name', 'Phone'],
    phones: ['Phone', 'Mobile', 'Mobile Phone', 'Home Phone', 'Other Phone'],
    names: ['First Name', 'Last Name'],
  },
];

/** What a program's header says of its columns, by their positions. */
export interface FromPreset {
  phones: number[];
  names: number[];
  separator: string | undefined;
}

/** The columns of a file that a known program wrote; nothing for one of another. */
export function findPreset(titles: readonly string[]): FromPreset | undefined {
  const keys = titles.map(plainTitle);
  const at = (names: readonly string[]) =>
    names.map((name) => keys.indexOf(plainTitle(name))).filter((found) => found !== -1);
  for (const { signature, phones, names, separator } of PRESETS) {
    if (at(signature).length < signature.length || at(phones).length === 0) continue;
    return { phones: at(phones), names: at(names), separator };
  }
  return undefined;
}
