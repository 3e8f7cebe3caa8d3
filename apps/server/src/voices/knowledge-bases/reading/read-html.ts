import { compile } from 'html-to-text';

/** Deeper than this nobody nests; it would only exhaust the stack. */
const DEEPEST = 500;

const heading = { leadingLineBreaks: 3, trailingLineBreaks: 2, uppercase: false };

const convert = compile({
  wordwrap: false,
  limits: { maxInputLength: Number.MAX_SAFE_INTEGER, maxDepth: DEEPEST, ellipsis: '' },
  formatters: {
    spaced: (element, walk, builder) => {
      walk(element.children, builder);
      builder.addInline(' ', {});
    },
  },
  selectors: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading', options: heading })),
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    { selector: 'hr', format: 'skip' },
    { selector: 'table', format: 'block' },
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    // A row is a line.
    ...['td', 'th', 'td > p', 'th > p'].map((selector) => ({ selector, format: 'spaced' })),
    { selector: 'noscript', format: 'skip' },
    { selector: 'template', format: 'skip' },
  ],
});

/** The text of an HTML page; three line breaks stand before each heading. */
export const readHtml = (html: string): string => convert(html);
