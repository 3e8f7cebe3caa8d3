import mammoth from 'mammoth';
import { DocumentFault } from './document-fault.ts';
import { readHtml } from './read-html.ts';

/** The text of a Word document, headings and tables as in HTML; its images are not looked at. */
export async function readDocx(bytes: Buffer): Promise<string> {
  const convertImage = mammoth.images.imgElement(async () => ({ src: '' }));
  const { value } = await mammoth.convertToHtml({ buffer: bytes }, { convertImage }).catch(() => {
    throw new DocumentFault('The document is damaged. Open it in Word, save it again and upload that.', 'docx');
  });
  return readHtml(value);
}
