import { stat } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

export interface DemoOptions {
  /** Path of the CSV file. */
  contacts: string;
  /** Whether it is the file that the demo brings. */
  shipped: boolean;
  /** ISO 3166-1 alpha-2, to read national numbers. */
  country: string;
  /** Calls at the same time. */
  concurrency: number;
  json: boolean;
  /** Whether calls go out over real SIP and RTP, to callees on this machine. */
  sip: boolean;
  /** Whether a page is opened to talk to the agent, instead of a campaign, or after one over SIP. */
  talk: boolean;
}

/** What a person can put right; the message says how. */
export class DemoError extends Error {}

export const USAGE = `npm run demo [-- options]

  --contacts FILE     your own CSV file instead of the 1,000 contacts that the demo brings
  --country CC        the country that its national numbers are read in (default: US)
  --concurrency N     calls at the same time, 1 to 10000 (default: 50)
  --sip               calls over real SIP and RTP, to callees and an agent on this machine
  --talk              a page to talk to an agent with your own microphone; with --sip, after the campaign
  --json              the result as one JSON object, the last line of standard output
  --help              this text

Nobody is really called, whatever is in the file: calls are simulated, or stay on this machine.
`;

const shippedContacts = path.join(import.meta.dirname, '../contacts.csv');

/** Reads the command line. Undefined where help is asked for. Throws `DemoError` with what would be right. */
export async function readOptions(args: string[]): Promise<DemoOptions | undefined> {
  const { values } = parse(args);
  if (values.help) return undefined;
  const concurrency = Number(values.concurrency);
  if (!/^\d+$/.test(values.concurrency) || concurrency < 1 || concurrency > 10_000) {
    throw new DemoError(`--concurrency takes a number from 1 to 10000, not ${values.concurrency}.`);
  }
  if (!/^[a-z]{2}$/i.test(values.country)) {
    throw new DemoError(`--country takes two letters, such as US or DE, not ${values.country}.`);
  }
  const contacts = values.contacts ?? shippedContacts;
  const found = await stat(contacts).catch(() => undefined);
  if (!found?.isFile()) {
    throw new DemoError(`There is no file ${path.resolve(contacts)}. Give the path of a CSV file to --contacts.`);
  }
  const shipped = values.contacts === undefined;
  const { json, sip, talk } = values;
  return { contacts, shipped, country: values.country.toUpperCase(), concurrency, json, sip, talk };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        contacts: { type: 'string' },
        country: { type: 'string', default: 'US' },
        concurrency: { type: 'string', default: '50' },
        json: { type: 'boolean', default: false },
        sip: { type: 'boolean', default: false },
        talk: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new DemoError(`${(error as Error).message}\n\n${USAGE}`);
  }
}
