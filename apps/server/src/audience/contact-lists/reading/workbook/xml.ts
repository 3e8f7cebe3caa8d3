import { StringDecoder } from 'node:string_decoder';
import { Parser } from 'htmlparser2';

/** What is done with the parts of an XML text, as they come; names are without their prefixes. */
export interface XmlHandler {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

const local = (name: string) => name.slice(name.indexOf(':') + 1);

/** Reads an XML text in UTF-8, piece by piece, in memory that doesn't grow with it. @returns after each piece */
export async function* readXml(source: AsyncIterable<Buffer>, handler: XmlHandler): AsyncGenerator<void> {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => handler.open?.(local(name), attributes),
      ontext: (text) => handler.text?.(text),
      onclosetag: (name) => handler.close?.(local(name)),
    },
    { xmlMode: true, decodeEntities: true },
  );
  const decoder = new StringDecoder('utf8');
  for await (const piece of source) {
    parser.write(decoder.write(piece));
    yield;
  }
  parser.end(decoder.end());
  yield;
}

/** Reads a small XML text to its end. */
export async function readWholeXml(source: AsyncIterable<Buffer>, handler: XmlHandler): Promise<void> {
  for await (const _ of readXml(source, handler));
}
