import { getDocumentProxy } from 'unpdf';
import { DocumentFault } from './document-fault.ts';
import type { ReadingLimits } from './limits.ts';

/** What pdf.js calls the errors that we tell apart. */
const PASSWORD = 'PasswordException';

const fault = (message: string) => new DocumentFault(message, 'pdf');

/** The text of a PDF, a form feed between its pages. */
export async function readPdf(bytes: Buffer, limits: Pick<ReadingLimits, 'pages' | 'textBytes'>): Promise<string> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 }).catch((error: Error) => {
    if (error.name === PASSWORD)
      throw fault('The PDF is protected by a password. Save it without one and upload that.');
    throw fault('The PDF is damaged. Open it, save or print it as PDF again, and upload that.');
  });
  if (pdf.numPages > limits.pages)
    throw fault(`The PDF has ${count(pdf.numPages)} pages; at most ${count(limits.pages)} are read. Split it up.`);
  const pages: string[] = [];
  let characters = 0;
  for (let number = 1; number <= pdf.numPages && characters <= limits.textBytes; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('');
    page.cleanup();
    pages.push(text.replace(/(\p{Ll})-\n(?=\p{Ll})/gu, '$1'));
    characters += text.length;
  }
  const text = pages.join('\f');
  if (text.trim() === '')
    throw fault(
      'The PDF holds no text: its pages seem to be scanned. Have their text recognised (OCR) and upload that.',
    );
  return text;
}

const count = (value: number) => value.toLocaleString('en');
