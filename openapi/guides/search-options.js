/** What every page says. */
const STOP = new Set([
  'a',
  'an',
  'and',
  'do',
  'does',
  'how',
  'i',
  'in',
  'is',
  'it',
  'my',
  'of',
  'the',
  'to',
  'was',
  'what',
  'with',
]);

/** How the guides and the reference are indexed and searched, here and in the reader's browser. */
export const searchOptions = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'href'],
  processTerm: (term) => (STOP.has(term.toLowerCase()) ? null : term.toLowerCase().replace(/(?<=..)s$/, '')),
  searchOptions: {
    prefix: true,
    fuzzy: 0.1,
    boost: { title: 4, page: 2 },
    // Who looks for an operation names it; all others want to be told.
    boostDocument: (id) => (id.startsWith('../') ? 0.5 : 1),
  },
};
