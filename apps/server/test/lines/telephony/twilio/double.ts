import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SendRequest } from '../../../../src/foundation/outbound-http/guarded-request.ts';
import { type JudgedOperation, judge } from './judge.ts';
import { trunkActs } from './trunk-acts.ts';

/** What it says when it refuses, as Twilio does. */
export class Refused extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * What happens to a request instead of what should. `drop`: nothing is done, and the connection breaks. `lose`: it is done,
 * and the connection breaks. `late`: the connection breaks, and then it is done. `busy`: 429. `broken`: 500, with nothing
 * done. `brokenAfter`: 500, although it is done.
 */
export type Fate = 'drop' | 'lose' | 'late' | 'busy' | 'broken' | 'brokenAfter' | undefined;

export interface OwnedNumber {
  sid: string;
  phone_number: string;
  friendly_name: string;
  trunk_sid: string | null;
}

export interface MadeTrunk {
  sid: string;
  name: string;
  domain: string;
  origins: string[];
  credentialLists: string[];
}

/** Where it acts on what it is asked. */
export type Act = (values: string[], input: Record<string, string>) => { status: number; body?: unknown };

/** How long after it broke the connection it does what is done late. */
const LATE_MS = 250;
const ACCOUNT = `AC${'0'.repeat(31)}1`;
const ACCOUNT_ITSELF = 'get /2010-04-01/Accounts/{Sid}.json';
export const testAccount = { accountId: ACCOUNT, secret: 'auth-token' };

/** A SID of its kind. */
export const newSid = (kind: string) => `${kind}${randomBytes(16).toString('hex')}`;

/**
 * Twilio on loopback, in its wire format. Each request and each answer is judged by Twilio's own description: what breaks
 * it stands in `faults`, which must stay empty. It refuses what Twilio refuses, and fails as `fate` says.
 */
export class TwilioDouble {
  readonly faults: string[] = [];
  readonly numbers = new Map<string, OwnedNumber>();
  readonly trunks: MadeTrunk[] = [];
  readonly credentialLists: { sid: string; name: string; passwords: Map<string, { sid: string; password: string }> }[] =
    [];
  /** Every purchase that it has carried out, in order. */
  readonly sold: string[] = [];
  /** What each request is, as `post /v1/Trunks`. */
  readonly asked: string[] = [];
  readonly accounts = new Set([ACCOUNT]);
  /** SIDs of its standard API keys: they may ask for all but the account itself. */
  readonly keys = new Set<string>();
  secret = testAccount.secret;
  status = 'active';
  fate: (operation: string, input: Record<string, string>) => Fate = () => undefined;
  url = '';
  readonly #acts: Record<string, Act>;
  readonly #judge = judge();
  readonly #server: Server;
  readonly #late: Promise<unknown>[] = [];

  constructor() {
    this.#acts = { ...numberActs(this), ...trunkActs(this) };
    this.#server = createServer((request, response) => {
      void this.#serve(request).then(({ fate, status, body, headers }) => {
        if (fate === 'drop' || fate === 'lose' || fate === 'late') return request.socket.destroy();
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(body === undefined ? undefined : JSON.stringify(body));
      });
    });
  }

  /** Sends what is meant for Twilio here. */
  readonly send: SendRequest = async ({ method, url, headers, body }) => {
    const { pathname, search } = new URL(url);
    const answer = await fetch(`${this.url}${pathname}${search}`, { method, headers, body: body?.toString() ?? null });
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: Buffer.from(await answer.arrayBuffer()),
    };
  };

  /** Where all its APIs are. */
  get urls() {
    return { api: this.url, pricing: this.url, trunking: this.url };
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  /** Resolves when all is done that is done late. */
  async settled(): Promise<void> {
    await Promise.all(this.#late);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage) {
    const url = new URL(request.url!, this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    const operation = this.#judge(request.method!, url.pathname);
    if (!operation) return this.#fault(`${request.method} ${url.pathname} is not Twilio's`);
    const query = Object.fromEntries(url.searchParams);
    const input = { ...query, ...form };
    this.asked.push(operation.name);
    const wrong =
      operation.queryFault({ ...query }) ?? (request.method === 'POST' ? operation.formFault({ ...form }) : undefined);
    if (wrong) return this.#fault(`${operation.name} ${wrong}`);
    const fate = this.fate(operation.name, input);
    const act = () => this.#answer(request, operation, input);
    if (fate === 'drop') return { fate, status: 0 };
    if (fate === 'busy') return { fate, status: 429, headers: { 'retry-after': '0' }, body: said(429, 20429, 'Busy') };
    if (fate === 'broken') return { fate, status: 500, body: said(500, 20500, 'Internal Server Error') };
    if (fate === 'late') {
      this.#late.push(sleep(LATE_MS).then(act));
      return { fate, status: 0 };
    }
    const answer = act();
    if (fate === 'brokenAfter') return { fate, status: 500, body: said(500, 20500, 'Internal Server Error') };
    return { fate, ...answer };
  }

  #answer(request: IncomingMessage, operation: JudgedOperation, input: Record<string, string>) {
    try {
      this.#authenticate(request, operation.name);
      const act = this.#acts[operation.name];
      if (!act) throw new Error(`${operation.name} is not played`);
      const answer = act(operation.values, input);
      const wrong = operation.answerFault(answer.status, answer.body);
      if (wrong) this.#fault(`${operation.name} answers ${answer.status}: ${wrong}`);
      return answer;
    } catch (error) {
      if (error instanceof Refused)
        return { status: error.status, body: said(error.status, error.code, error.message) };
      return this.#fault(String(error));
    }
  }

  #authenticate(request: IncomingMessage, operation: string) {
    const [, encoded = ''] = (request.headers.authorization ?? '').split(' ');
    const [user = '', secret] = Buffer.from(encoded, 'base64').toString().split(':');
    const mayAsk = this.accounts.has(user) || (this.keys.has(user) && operation !== ACCOUNT_ITSELF);
    if (!mayAsk || secret !== this.secret) throw new Refused(401, 20003, 'Authenticate');
    if (this.status !== 'active') throw new Refused(401, 20005, 'Account not active');
  }

  #fault(message: string) {
    this.faults.push(message);
    return { fate: undefined, status: 400, body: said(400, 20001, message) };
  }
}

const said = (status: number, code: number, message: string) => ({
  code,
  message,
  more_info: `https://www.twilio.com/docs/errors/${code}`,
  status,
});

/** Numbers that it refuses by their ends, as Twilio refuses such ones. */
const refusedEndings: Record<string, [status: number, code: number, message: string]> = {
  '0402': [400, 21404, 'Trial accounts are allowed only one Twilio number.'],
  '0631': [400, 21631, 'Phone Number Requires an Address but the AddressSid parameter was empty.'],
  '0649': [400, 21649, 'Bundle required'],
};

/** What it does with numbers. */
function numberActs(double: TwilioDouble): Record<string, Act> {
  const root = '/2010-04-01/Accounts/{AccountSid}';
  const shown = (number: OwnedNumber) => ({
    ...number,
    account_sid: ACCOUNT,
    address_requirements: 'none',
    api_version: '2010-04-01',
    beta: false,
    capabilities: { voice: true, sms: true, mms: true, fax: false },
    origin: 'twilio',
    status: 'in-use',
    uri: `/2010-04-01/Accounts/${ACCOUNT}/IncomingPhoneNumbers/${number.sid}.json`,
  });
  const forSale =
    (prefix: string): Act =>
    ([, country], { AreaCode = '', Contains = '', PageSize = '50' }) => {
      if (country !== 'US') throw new Refused(404, 20404, 'The requested resource was not found');
      const owned = new Set([...double.numbers.values()].map(({ phone_number }) => phone_number));
      const all = Array.from({ length: 200 }, (_, i) => `+1${AreaCode || prefix}555${String(1000 + i)}`);
      const found = all.filter((each) => !owned.has(each) && each.includes(Contains)).slice(0, Number(PageSize));
      const available_phone_numbers = found.map((phone_number) => ({
        phone_number,
        friendly_name: phone_number,
        iso_country: 'US',
        address_requirements: 'none',
        beta: false,
        capabilities: { voice: true, sms: true, mms: true },
      }));
      return { status: 200, body: { available_phone_numbers, uri: '/' } };
    };
  return {
    [ACCOUNT_ITSELF]: ([sid]) => {
      if (!double.accounts.has(sid!)) throw new Refused(404, 20404, 'The requested resource was not found');
      return { status: 200, body: { sid, status: double.status, friendly_name: 'Test', type: 'Full' } };
    },
    [`get ${root}/AvailablePhoneNumbers/{CountryCode}/Local.json`]: forSale('415'),
    [`get ${root}/AvailablePhoneNumbers/{CountryCode}/Mobile.json`]: () => {
      throw new Refused(404, 20404, 'The requested resource was not found');
    },
    [`get ${root}/AvailablePhoneNumbers/{CountryCode}/TollFree.json`]: forSale('833'),
    [`get ${root}/IncomingPhoneNumbers.json`]: (_values, { FriendlyName, PhoneNumber, PageSize = '50' }) => {
      const incoming_phone_numbers = [...double.numbers.values()]
        .filter((each) => FriendlyName === undefined || each.friendly_name === FriendlyName)
        .filter((each) => PhoneNumber === undefined || each.phone_number.includes(PhoneNumber))
        .slice(0, Number(PageSize))
        .map(shown);
      return { status: 200, body: { incoming_phone_numbers, page: 0, uri: '/' } };
    },
    [`post ${root}/IncomingPhoneNumbers.json`]: (
      _values,
      { PhoneNumber = '', FriendlyName, AddressSid, BundleSid },
    ) => {
      if (!/^\+[1-9]\d{7,14}$/.test(PhoneNumber)) throw new Refused(400, 21421, 'PhoneNumber is invalid');
      if ((FriendlyName ?? '').length > 64) throw new Refused(400, 21426, 'FriendlyName is too long');
      const refused = refusedEndings[PhoneNumber.slice(-4)];
      const given = { '0631': AddressSid, '0649': BundleSid }[PhoneNumber.slice(-4)];
      if (refused && given === undefined) throw new Refused(...refused);
      if ([...double.numbers.values()].some(({ phone_number }) => phone_number === PhoneNumber))
        throw new Refused(400, 21422, `${PhoneNumber} is not available`);
      const sid = newSid('PN');
      const number = { sid, phone_number: PhoneNumber, friendly_name: FriendlyName ?? PhoneNumber, trunk_sid: null };
      double.numbers.set(sid, number);
      double.sold.push(PhoneNumber);
      return { status: 201, body: shown(number) };
    },
    [`get ${root}/IncomingPhoneNumbers/{Sid}.json`]: ([, sid = '']) => {
      const number = double.numbers.get(sid);
      if (!number) throw new Refused(404, 20404, 'The requested resource was not found');
      return { status: 200, body: shown(number) };
    },
    [`delete ${root}/IncomingPhoneNumbers/{Sid}.json`]: ([, sid = '']) => {
      if (!double.numbers.delete(sid)) throw new Refused(404, 20404, 'The requested resource was not found');
      return { status: 204 };
    },
    'get /v1/PhoneNumbers/Countries/{IsoCountry}': ([iso_country]) => ({
      status: 200,
      body: {
        iso_country,
        country: iso_country === 'US' ? 'United States' : 'Elsewhere',
        price_unit: 'usd',
        phone_number_prices: [
          { number_type: 'local', base_price: 1.15, current_price: 1.15 },
          { number_type: 'toll free', base_price: 2.15, current_price: 2.15 },
        ],
        url: `https://pricing.twilio.com/v1/PhoneNumbers/Countries/${iso_country}`,
      },
    }),
  };
}

/** A number between 0 and 1 that a text stands for, the same each time. */
export const chance = (text: string) => createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;
