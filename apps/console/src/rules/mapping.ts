import type { components } from '@trunkline/client';

type Schemas = components['schemas'];
export type Column = Schemas['ContactListPreviewColumn'];
export type Mapping = Schemas['UpdateContactListUpload'];

/** How long a column's title may be where it is named. */
const MAX_TITLE = 64;
/** A person's number is looked for in so many columns at most. */
const MAX_PHONES = 8;

/** What a column can be made to be; of phones also which they are in the order of preference: `phone-1` is the first. */
export type Choice = 'variable' | 'name' | 'timezone' | 'do_not_call' | `phone-${number}`;

/** A column by the name by which the server knows it. */
const titleOf = ({ name }: Column, at: number) => name.slice(0, MAX_TITLE) || `column_${at + 1}`;

const titlesOf = (columns: readonly Column[], use: string) =>
  columns.flatMap((column, at) => (column.use === use ? [titleOf(column, at)] : []));

/** The columns of phones, the best first. @param first the one of which the server says that it goes first */
export function phonesOf(columns: readonly Column[], first: string | undefined): string[] {
  const phones = titlesOf(columns, 'phone');
  return first !== undefined && phones.includes(first) ? [first, ...phones.filter((each) => each !== first)] : phones;
}

/** What a column is now, as one of its choices. */
export function choiceOf(columns: readonly Column[], phones: readonly string[], at: number): string {
  const column = columns[at]!;
  return column.use === 'phone' ? `phone-${phones.indexOf(titleOf(column, at)) + 1}` : column.use;
}

/** What a column may become; the present one is always among them. */
export function choicesFor(columns: readonly Column[], phones: readonly string[], at: number): string[] {
  const now = choiceOf(columns, phones, at);
  const places = Math.min(MAX_PHONES, phones.length + (now.startsWith('phone-') ? 0 : 1));
  const all = [
    ...Array.from({ length: places }, (_, place) => `phone-${place + 1}`),
    ...['name', 'timezone', 'do_not_call', 'variable'],
  ];
  return all.includes(now) ? all : [...all, now];
}

/**
 * What to say to the server so that a column becomes something else: the kinds that this changes, and no others. Nothing
 * where no column of phones would be left.
 */
export function changeOf(
  columns: readonly Column[],
  phones: readonly string[],
  at: number,
  choice: string,
): Mapping | undefined {
  const title = titleOf(columns[at]!, at);
  const before = choiceOf(columns, phones, at);
  const change: Mapping = {};
  if (before.startsWith('phone-') || choice.startsWith('phone-')) {
    const left = phones.filter((each) => each !== title);
    if (choice.startsWith('phone-')) left.splice(Number(choice.slice('phone-'.length)) - 1, 0, title);
    if (left.length === 0) return undefined;
    change.phoneColumns = left as [string, ...string[]];
  }
  const kinds = [
    ['name', 'nameColumns'],
    ['timezone', 'timezoneColumns'],
    ['do_not_call', 'doNotCallColumns'],
  ] as const;
  for (const [use, field] of kinds) {
    if (before !== use && choice !== use) continue;
    const wanted = columns.flatMap((column, index) => {
      const isIt = index === at ? choice === use : column.use === use;
      return isIt ? [titleOf(column, index)] : [];
    });
    change[field] = wanted;
  }
  return change;
}

const ORDER = ['1st', '2nd', '3rd'];

/** A choice as a person reads it. */
export function choiceSays(choice: string): string {
  if (choice.startsWith('phone-')) {
    const place = Number(choice.slice('phone-'.length));
    return `phone, ${ORDER[place - 1] ?? `${place}th`} choice`;
  }
  return CHOICES[choice] ?? choice.replaceAll('_', ' ');
}

const CHOICES: Readonly<Record<string, string>> = {
  name: 'name',
  timezone: 'time zone',
  do_not_call: 'who is not to be called',
  variable: 'told to the agent',
  consent: 'who has agreed',
  consent_source: 'where consent is from',
  consent_time: 'when it was given',
  consent_purpose: 'what it is for',
};

/** The columns as somebody wants them to be, and what is to be said to the server for that. */
export interface Mapped {
  columns: readonly Column[];
  phones: readonly string[];
  said: Mapping;
}

/** The same once a column has become something else. */
export function mapped(before: Mapped, at: number, choice: string): Mapped {
  const change = changeOf(before.columns, before.phones, at, choice);
  if (!change) return before;
  const use = choice.startsWith('phone-') ? 'phone' : (choice as Column['use']);
  return {
    columns: before.columns.map((column, index) => (index === at ? { ...column, use } : column)),
    phones: change.phoneColumns ?? before.phones,
    said: { ...before.said, ...change },
  };
}

/**
 * The cells of a rejected row that are to be written anew, as they stand now: those at fault, or all of a row that can't be
 * parted into cells, which is parted here as its writer has meant it.
 */
export function cellsToMend(
  columns: readonly Column[],
  { cells, errors }: Pick<Schemas['ContactListRejectedRow'], 'cells' | 'errors'>,
  delimiter: string | undefined,
): { title: string; value: string }[] {
  const isWhole = errors.some(({ column }) => column === '');
  const parts = isWhole && delimiter ? cells.join(delimiter).split(delimiter) : cells;
  const all = columns.map(({ name: title }, at) => {
    const value = (parts[at] ?? '').trim();
    return { title, value: isWhole ? value.replace(/^"|"$/g, '') : value };
  });
  // Cells behind the last column: what stands there is to go, or the row stays wrong.
  const behind = errors.flatMap(({ column: title }) => {
    const at = Number(/^column_(\d+)$/.exec(title)?.[1] ?? 0) - 1;
    return at >= columns.length ? [{ title, value: (cells[at] ?? '').trim() }] : [];
  });
  const wrong = all.filter(({ title }) => errors.some(({ column }) => column === title));
  return [...(isWhole || wrong.length === 0 ? all : wrong), ...behind];
}
