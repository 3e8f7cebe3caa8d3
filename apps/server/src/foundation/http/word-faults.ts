/** A fault of a request: where (`/body/name`), which keyword of the schema it breaks, and Ajv's words. */
export interface WordedFault {
  path: string;
  keyword: string;
  message: string;
}

const PLAIN: Record<string, string> = {
  required: 'is required',
  additionalProperties: 'is not a known property',
  unevaluatedProperties: 'is not a known property',
};

const FORMATS: [format: string, message: string][] = [
  ['date-time', 'must be a time such as 2026-11-20T09:30:00Z'],
  ['date', 'must be a date that there is, such as 2026-12-25'],
  ['uri', 'must be a URL, such as https://example.com/hook'],
];

/** What people can't read off a regular expression, by the patterns of the contract. */
const PATTERNS = new Map<string, string>([
  [
    '^[ \\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff]*[^\\s\\x00-\\x1f\\x7f-\\x9f](?:[^\\s\\x00-\\x1f\\x7f-\\x9f]|[ \\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff])*$',
    'must be one line that is not blank, without control characters',
  ],
  ['\\S', 'must not be blank'],
  ['^room_[0-9a-f]{32}\\.json$', 'must be the session ID of a call and .json'],
  ['^\\+[1-9][0-9]{6,14}$', 'must be a phone number in E.164 form, such as +14155550100'],
  ['^[A-Z]{2}$', 'must be a country in two capital letters (ISO 3166-1), such as US'],
  ['^[A-Z]{3}$', 'must be a currency in three capital letters (ISO 4217), such as USD'],
  ['^https?://', 'must be an https:// URL'],
  ['^wss?://', 'must be a wss:// URL'],
  ['^(wss?|https?)://', 'must be a wss:// or an https:// URL'],
  [
    '^whsec_([A-Za-z0-9+/]{4}){8,21}([A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$',
    'must be whsec_ and 24 to 64 bytes in base64, as Standard Webhooks has its secrets',
  ],
  ['^([0-9]{1,15}|latest)$', 'must be the `after` of an answer or of an event, or latest'],
  ['^(room|cmp|bat|run|upl|kb|pn|trk)_[0-9a-f]{32}$', 'must be an ID, such as room_ and 32 hexadecimal digits'],
  ['^[1-9][0-9]{0,8}$', 'must be the number of a row, such as 17'],
  ['^[0-9*#]+$', 'must be digits, * and # only'],
  ['^[0-9*#]*$', 'must be digits, * and # only'],
  ['^[0-9*#]$', 'must be a digit, * or #'],
  [
    '^[wW]*[0-9A-D*#][0-9A-D*#wW]*$',
    'must be keys (0 to 9, *, #, A to D), at least one, and between them w or W for a pause, such as 2W104#',
  ],
  ['^[a-z]{2}$', 'must be a language in two small letters (ISO 639-1), such as en'],
  ['^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$', 'must be a language (BCP 47), such as en or de-AT'],
  ['^([01][0-9]|2[0-3]):[0-5][0-9]$', 'must be a time of day from 00:00 to 23:59'],
  ['^[A-Za-z][A-Za-z0-9_]*$', 'must be letters, digits and _, beginning with a letter'],
  ['^[a-z][a-z0-9_]*$', 'must be small letters, digits and _, beginning with a letter'],
  ['^[A-Za-z0-9][A-Za-z0-9_.+-]*$', 'must be letters, digits, _, ., + and -, beginning with a letter or digit'],
  ['^[\\x20-\\x7E]+$', 'must be visible ASCII characters and spaces'],
  ['^[\\x20-\\x7E]*$', 'must be visible ASCII characters and spaces'],
  ['^[\\x21-\\x7E]*$', 'must be visible ASCII characters without spaces'],
  [
    '^(?:[^\\s\\x00-\\x1f\\x7f-\\x9f]|[ \\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000\\ufeff])+$',
    'must be one line without control characters',
  ],
  ['^[^=]{1,64}=', 'must be a name of 1 to 64 characters, a = and a value, such as orderId=7781'],
  ['^[^\\s.{}]+$', 'must have no spaces, dots or braces'],
  ['^[A-Za-z0-9][A-Za-z0-9_-]*$', 'must be letters, digits, _ and -, beginning with a letter or digit'],
  ['^[A-Za-z0-9][A-Za-z0-9_.:-]*$', 'must be letters, digits, _, -, . and :, beginning with a letter or digit'],
  ["^[A-Za-z0-9!#$%&'*+./=?^_`{|}~-]+$", 'must be a SIP user name: letters, digits and signs, without @, : and spaces'],
  [
    '^[^\\s@\\x00-\\x1f\\x7f-\\x9f]+@[^\\s@\\x00-\\x1f\\x7f-\\x9f]+$',
    'must be an email address, such as ada@example.com',
  ],
  ['^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9.-]+)$', 'must be a host name or an IP address, IPv6 in brackets'],
  ['^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$', 'must be an IP address or a network, such as 203.0.113.7 or 203.0.113.0/24'],
  [
    '^(sips?:)?(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?(;[A-Za-z0-9;=._-]+)?$',
    'must be the SIP address of a trunk, such as sip:trunk.example.com:5061',
  ],
  ['^[Xx]-[A-Za-z0-9-]{1,62}$', 'must be the name of a header that begins with X-'],
  ["^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", 'must be the name of a header'],
  ['^(\\*|(W/)?"[!#-~]*"([ \\t]*,[ \\t]*(W/)?"[!#-~]*")*)$', 'must be entity tags, such as "7", or *'],
  ["^[A-Za-z0-9!#$%&'*+.^_`|~-]*$", 'must be the name of a header'],
]);
const STREAM_PATH = 'must be the path of an event stream, such as /v1/calls/campaigns/cmp_…/events, with a whole ID';
const DIGITS_PATTERN = /^\^\[0-9\]\{1,(\d+)\}\$$/;
const ID_PATTERN = /^\^([a-z]+_)\[0-9a-f\]\{32\}\$$/;

/**
 * The faults as a person needs them: in words, each once, and of a `oneOf` only those of the shape that was meant.
 * Ajv names the faults of every shape, and so blames a property that belongs to the right one.
 */
export function wordFaults<Fault extends WordedFault>(faults: readonly Fault[]): Fault[] {
  // Of a shape that a property tells: the faults of that shape say more.
  const named = faults.filter(({ keyword }) => keyword !== 'if');
  const choices = named.filter(({ keyword }) => keyword === 'oneOf').map(({ path }) => path);
  const any = named.filter(({ keyword }) => keyword === 'anyOf').map(({ path }) => path);
  const several = any.filter((path) => path.startsWith('/query/'));
  const left = any.reduce(
    settleTypes,
    several.reduce(settleSeveral, choices.reduce<readonly Fault[]>(settleChoice, named)),
  );
  const seen = new Set<string>();
  return left
    .map((fault) => ({ ...fault, message: words(fault) }))
    .filter(({ path, message }) => !seen.has(`${path} ${message}`) && seen.add(`${path} ${message}`));
}

const keyOf = ({ path, keyword, message }: WordedFault) => JSON.stringify([path, keyword, message]);

function words({ keyword, message }: WordedFault): string {
  if (keyword === 'format') return FORMATS.find(([format]) => message.endsWith(`"${format}"`))?.[1] ?? message;
  if (message.startsWith('Unknown query parameter')) return 'is not a known parameter';
  if (keyword !== 'pattern') return PLAIN[keyword] ?? message;
  const pattern = /"(.*)"$/s.exec(message)?.[1] ?? '';
  const id = ID_PATTERN.exec(pattern)?.[1];
  if (id) return `must be an ID: ${id} and 32 hexadecimal digits in lower case`;
  const digits = DIGITS_PATTERN.exec(pattern)?.[1];
  if (digits) return `must be 1 to ${digits} digits`;
  if (pattern.endsWith('/events)$')) return STREAM_PATH;
  return PATTERNS.get(pattern) ?? message;
}

function settleChoice<Fault extends WordedFault>(faults: readonly Fault[], path: string): readonly Fault[] {
  const here = (fault: Fault) => fault.path === path;
  const others = faults.filter((fault) => !(here(fault) && fault.keyword === 'oneOf'));
  const orNull = others.find((fault) => here(fault) && fault.message === 'must be null');
  return orNull ? settleNullable(others, orNull, path) : settleShapes(faults, path);
}

/** A filter that takes a value or several of them: what is wrong with those that were sent. */
function settleSeveral<Fault extends WordedFault>(faults: readonly Fault[], path: string): readonly Fault[] {
  const ofList = (fault: Fault) => fault.path.startsWith(`${path}/`) || /^m(?:in|ax)Items$/.test(fault.keyword);
  const isNoList = (fault: Fault) => fault.keyword === 'anyOf' || fault.message === 'must be array';
  const own = faults.filter((fault) => fault.path === path || fault.path.startsWith(`${path}/`));
  const meant = own.some(ofList) ? own.filter(ofList) : own.filter((fault) => !isNoList(fault));
  return faults.filter((fault) => !own.includes(fault) || meant.includes(fault));
}

/** A value that may be of several types: one fault names them all, unless one of them was sent and has faults of its own. */
function settleTypes<Fault extends WordedFault>(faults: readonly Fault[], path: string): readonly Fault[] {
  const here = faults.filter((fault) => fault.path === path);
  const choice = here.find(({ keyword }) => keyword === 'anyOf');
  const types = here.filter(({ keyword }) => keyword === 'type');
  if (!choice || types.length === 0) return faults;
  const rest = faults.filter((fault) => fault !== choice && !types.includes(fault));
  if (rest.some((fault) => fault.path === path || fault.path.startsWith(`${path}/`))) return rest;
  const names = new Set(types.map(({ message }) => message.replace(/^must be /, '')));
  return [...rest, { ...choice, message: `must be ${[...names].join(' or ')}` }];
}

/** `null` is one of the choices: it is worth naming only where the type is wrong. */
function settleNullable<Fault extends WordedFault>(faults: readonly Fault[], orNull: Fault, path: string): Fault[] {
  return faults
    .filter((fault) => fault !== orNull)
    .map((fault) =>
      fault.path === path && fault.keyword === 'type' ? { ...fault, message: `${fault.message} or null` } : fault,
    );
}

/** Two closed shapes, of which each requires a property that the other doesn't know: such a fault comes once, not twice. */
function settleShapes<Fault extends WordedFault>(faults: readonly Fault[], path: string): readonly Fault[] {
  const isOf = (fault: Fault, keyword: string) =>
    fault.keyword === keyword && fault.path.slice(0, fault.path.lastIndexOf('/')) === path;
  const times = new Map<string, number>();
  for (const fault of faults) times.set(keyOf(fault), (times.get(keyOf(fault)) ?? 0) + 1);
  const once = (fault: Fault) => times.get(keyOf(fault)) === 1;
  const sent = faults.filter((fault) => isOf(fault, 'additionalProperties') && once(fault));
  const missing = faults.filter((fault) => isOf(fault, 'required') && once(fault));
  const telling = new Set([...sent, ...missing]);
  if (telling.size < 2) return faults;
  const rest = faults.filter((fault) => !telling.has(fault) && !(fault.path === path && fault.keyword === 'oneOf'));
  if (sent.length === 1) return rest.length > 0 ? rest : faults;
  const names = [...telling].map((fault) => fault.path.slice(path.length + 1)).sort();
  const choice = faults.find((fault) => fault.path === path && fault.keyword === 'oneOf')!;
  return [{ ...choice, message: `must have exactly one of ${names.join(' and ')}` }, ...rest];
}
