import { StringDecoder } from 'node:string_decoder';
import { Parser } from 'htmlparser2';
import { FileFault } from '../file-fault.ts';

/** The longest that one tag or comment may be, in bytes: the parser keeps it whole. */
const MOST_OF_ONE = 1024 * 1024;
/** Of tags within tags; of each it looks at those that are open. */
const MOST_DEPTH = 256;

/** What is done with the parts of an XML text, as they come; names are without their prefixes. */
export interface XmlHandler {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

const local = (name: string) => name.slice(name.indexOf(':') + 1);

/**
 * Reads an XML text in UTF-8, piece by piece, in memory that doesn't grow with it. Zeros, which XML can't hold, are left out.
 * @returns after each piece
 * @throws FileFault for a tag that is too long to be kept
 */
export async function* readXml(source: AsyncIterable<Buffer>, handler: XmlHandler): AsyncGenerator<void> {
  let [untold, depth] = [0, 0];
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        untold = 0;
        depth += 1;
        handler.open?.(local(name), attributes);
      },
      ontext: (text) => {
        untold = 0;
        handler.text?.(text);
      },
      onclosetag: (name) => {
        untold = 0;
        depth -= 1;
        handler.close?.(local(name));
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  const decoder = new StringDecoder('utf8');
  for await (const piece of source) {
    untold += piece.length;
    parser.write(decoder.write(piece).replaceAll('\0', ''));
    if (untold > MOST_OF_ONE) throw new FileFault('unreadable_file', 'The workbook is broken: a tag in it has no end.');
    if (depth > MOST_DEPTH)
      throw new FileFault('unreadable_file', 'The workbook is broken: its tags are nested too deep.');
    yield;
  }
  parser.end(decoder.end());
  yield;
}

/** Reads a small XML text to its end. */
export async function readWholeXml(source: AsyncIterable<Buffer>, handler: XmlHandler): Promise<void> {
  for await (const _ of readXml(source, handler));
}
