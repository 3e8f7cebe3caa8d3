import { FileFault } from './file-fault.ts';

const KINDS: readonly [beginning: RegExp, message: string][] = [
  [
    /^\s*(?:\{\s*["}]|\[\s*[{["])/,
    'This is JSON, not CSV. Save it as CSV, or send the people as entries of the list, which are JSON.',
  ],
  [
    /^\s*<(?:!doctype\s+html|html|head|body|table|meta|script|style|div)[\s>]/i,
    'This is a web page (HTML), perhaps one that asks to sign in. Download the file itself; if a program has exported it as .xls, open it in a spreadsheet and save it as .xlsx or CSV.',
  ],
  [/^\s*<(?:\?xml|[a-z][\w:.-]*[\s>])/i, 'This is XML, not CSV. Open it in a spreadsheet and save it as .xlsx or CSV.'],
  [/^BEGIN:VCARD/i, 'These are vCards, not CSV. Export the contacts as CSV.'],
];

/** @throws FileFault for a text that is something else than CSV, by how it begins */
export function refuseMarkup(beginning: string): void {
  const [, message] = KINDS.find(([pattern]) => pattern.test(beginning)) ?? [];
  if (message !== undefined) throw new FileFault('unreadable_file', message);
}
