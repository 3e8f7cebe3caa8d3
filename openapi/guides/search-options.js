/** What questions are made of, and says nothing of what is asked for. */
const STOP = new Set(
  `a about am an and are as at be been can could did do does doing don't for from get had has have how i i'm if in is it it's its let long make me my not of on one or our out should so some somebody something t tell than that the their them then there they this to up use want was way we what when where which who why will with without work works would you your`.split(
    ' ',
  ),
);

/** How the guides and the reference are indexed and searched, here and in the reader's browser. */
export const searchOptions = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'href'],
  // One thing, of words that each say nothing.
  tokenize: (text) => text.replaceAll(/do[ -]not[ -]call/gi, 'donotcall').split(/[\s\p{P}]+/u),
  processTerm: (term) => (STOP.has(term.toLowerCase()) ? null : term.toLowerCase().replace(/(?<=..)s$/, '')),
  searchOptions: {
    prefix: true,
    fuzzy: 0.1,
    boost: { title: 4, page: 2 },
    // Who looks for an operation names it; all others want to be told.
    boostDocument: (id) => (id.startsWith('/docs#') ? 0.5 : 1),
  },
};
