/** What questions are made of, and says nothing of what is asked for. */
const STOP = new Set(
  `a about am an and are as at be been can could did do does doing don't for from get gets had has have how i i'm if in is it it's its let long make me my not of on one or our out should so some somebody something t tell than that the their them then there they this to up use used want was way we what when where which who why will with without work works would you your`.split(
    ' ',
  ),
);

/** What people call things, and what these pages call them. */
const SYNONYMS = {
  amd: ['voicemail', 'answered'],
  asterisk: ['pbx'],
  audio: ['sound'],
  blacklist: ['donotcall'],
  blocklist: ['donotcall'],
  bot: ['agent'],
  cancel: ['stop'],
  concurrency: ['once'],
  concurrent: ['once'],
  cps: ['second'],
  customer: ['person', 'people'],
  deduplicate: ['duplicate'],
  delete: ['erase'],
  dnc: ['donotcall'],
  dnd: ['donotcall'],
  emergency: ['stop'],
  excel: ['xlsx'],
  forgotten: ['erase'],
  freepbx: ['pbx'],
  hmac: ['signature'],
  inbound: ['arrive'],
  install: ['start'],
  keypad: ['digit', 'key'],
  lead: ['contact', 'row'],
  llm: ['model'],
  localhost: ['machine'],
  login: ['sign'],
  mapping: ['column'],
  mp3: ['recording'],
  okta: ['identity'],
  pagination: ['page', 'list'],
  rag: ['knowledge'],
  recipient: ['callee'],
  resend: ['again'],
  retry: ['again'],
  rotation: ['turn', 'pool'],
  schedule: ['hour'],
  sso: ['identity'],
  suppression: ['donotcall'],
  throttle: ['fast'],
  timezone: ['zone'],
  umlaut: ['encoding'],
  unsubscribe: ['donotcall', 'opt'],
  wav: ['sound', 'recording'],
  websocket: ['stream'],
};

const AS_SYNONYM = 0.7;
/** Whether a word was asked for only in other words. */
const isSynonym = (word, asked) => asked.some((each) => SYNONYMS[each]?.includes(word));

/** Pages for those who change the product: all others want to use it. */
const MADE = /^(?:architecture|dialing|glossary|scale)\b/;

/** A word as it is kept: in small letters, in the singular. */
function wordOf(term) {
  const word = term.toLowerCase();
  return STOP.has(word) ? null : word.replace(/(?<=..)s$/, '');
}

/** How the guides and the reference are indexed and searched, here and in the reader's browser. */
export const searchOptions = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'href', 'text'],
  // One thing, of words that each say nothing.
  tokenize: (text) => text.replaceAll(/do[ -]not[ -]call/gi, 'donotcall').split(/[\s\p{P}]+/u),
  processTerm: wordOf,
  searchOptions: {
    processTerm: (term) => {
      const word = wordOf(term);
      return word && word in SYNONYMS ? [word, ...SYNONYMS[word]] : word;
    },
    prefix: true,
    fuzzy: 0.1,
    boost: { title: 4, page: 2 },
    boostTerm: (word, _, asked) => (isSynonym(word, asked) ? AS_SYNONYM : 1),
    // Who looks for an operation names it; all others want to be told.
    boostDocument: (id) => (id.startsWith('/docs#') || MADE.test(id) ? 0.5 : 1),
  },
};
