/// <reference lib="es2024.string" />
import type { DocumentType } from '../../../foundation/database/schema.ts';

/** All control characters but tab, line feed and form feed; PostgreSQL keeps no NUL. */
const CONTROLS = /[\p{Cc}\u00ad\ufeff]/gu;

/**
 * Text as it is kept: well-formed, composed, without control characters, no long gaps, no space at the ends of lines, no
 * more than two empty lines. A form feed, or two empty lines, begins another section; before a heading of Markdown they are put.
 */
export function tidyText(raw: string, fileType: DocumentType): string {
  const text = raw
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u0085]/g, '\n')
    .replace(/\u2029/g, '\n\n')
    .replace(CONTROLS, (character) => (/[\t\n\f]/.test(character) ? character : ''))
    .normalize('NFC')
    .replace(/[^\S\n\f]{20,}/g, ' ')
    .replace(/[^\S\n\f]+$/gm, '')
    .replace(/\n{4,}/g, '\n\n\n');
  const marked = fileType === 'md' ? text.replace(/\n+(?=#{1,6} \S)/g, '\n\n\n') : text;
  return marked.trim();
}
