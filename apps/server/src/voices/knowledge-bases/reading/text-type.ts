import Papa from 'papaparse';

type TextType = 'txt' | 'md' | 'html' | 'csv' | 'json';

const SAMPLE = 65_536;

/** What a text is, by what stands in it. */
export function textTypeOf(text: string): TextType {
  const trimmed = text.trim();
  if (isJson(trimmed)) return 'json';
  if (isHtml(trimmed)) return 'html';
  const sample = trimmed.slice(0, SAMPLE);
  if (isMarkdown(sample)) return 'md';
  return isCsv(sample) ? 'csv' : 'txt';
}

function isJson(text: string): boolean {
  if (!/^[[{]/.test(text) || !/[\]}]$/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isHtml(text: string): boolean {
  const start = text.slice(0, SAMPLE).replace(/^(\s*(<\?xml[^>]*>|<!--[\s\S]*?-->))*\s*/, '');
  if (/^<(!doctype html|html|head|body|title|meta)\b/i.test(start)) return true;
  // A fragment. Markdown may begin with a tag too, but ends with none.
  return /^<(div|p|table|h[1-6]|section|article|main|ul|ol|span)\b/i.test(start) && /<\/\w+>$/.test(text);
}

/** Each is a sign; two kinds of them make Markdown, or one that plain text never has. */
const MARKDOWN = [
  /^#{1,6} \S/m,
  /^(```|~~~)/m,
  /^\|?[ :]*-{3,}[ :]*\|[-| :]*$/m,
  /\[[^\]\n]+\]\((https?:|\/|#|\.|mailto:)[^)\n]*\)/,
  /\*\*[^*\n]+\*\*/,
  /^[ \t]{0,3}[-*+] \S/m,
  /^\S[^\n]*\n(={3,}|-{3,})$/m,
  /^> \S/m,
  /`[^`\n]+`/,
];
const CERTAIN = [/^# \S[^\n]*\n\s*\n/, /^\|?[ :]*-{3,}[ :]*\|[-| :]*$/m];

const isMarkdown = (text: string): boolean =>
  CERTAIN.some((sign) => sign.test(text)) || MARKDOWN.filter((sign) => sign.test(text)).length >= 2;

/** Rows of one width, under names of columns. Prose with a comma in each line has a space behind it, and no such names. */
function isCsv(sample: string): boolean {
  const whole = sample.length < SAMPLE ? sample : sample.slice(0, sample.lastIndexOf('\n'));
  const { data, meta } = Papa.parse<string[]>(whole, { skipEmptyLines: true });
  const [header = [], ...rows] = data;
  if (rows.length === 0 || header.length < 2 || !isHeader(header)) return false;
  if (rows.filter((row) => row.length === header.length).length < rows.length * 0.9) return false;
  const later = rows.flatMap((row) => row.slice(1)).filter((cell) => cell !== '');
  return meta.delimiter !== ',' || later.filter((cell) => cell.startsWith(' ')).length <= later.length / 2;
}

/** Whether a row of a CSV file names its columns. */
export const isHeader = (row: readonly string[]): boolean =>
  row.every((cell) => cell.trim().length > 0 && cell.length <= 64 && !/[.!?]$|^\s*[\d.,-]+\s*$/.test(cell)) &&
  new Set(row).size === row.length;
