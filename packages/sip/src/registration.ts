import { type Core, contactOf, newBranch, type Running, startRequest } from './core.ts';
import type { Credentials } from './digest-client.ts';
import { DigestClient } from './digest-client.ts';
import { type Exchanged, exchange } from './exchange.ts';
import type { SipResponse } from './message.ts';
import { parseNameAddr } from './name-addr.ts';
import { randomToken } from './random.ts';
import { SipSyntaxError } from './syntax.ts';
import type { Timer } from './timers.ts';
import { type Flow, type Target, TransportError, type TransportName } from './transport.ts';
import { parseUri } from './uri.ts';

/** An address to register. */
export interface RegisterOptions {
  /** The registrar, such as `sip:sip.example.com`. */
  registrar: string;
  /** The address that is registered, such as `sip:ada@sip.example.com`. */
  address: string;
  transport?: TransportName;
  /** A SIP URI: where to send the requests instead of to the registrar. */
  outboundProxy?: string;
  credentials?: Credentials;
  /** For how long, in seconds; 3,600 by default. The registrar may give less, or ask for more. */
  expiresSeconds?: number;
  /** The user part of the Contact; by default that of the address. */
  contactUser?: string;
  /** On whose behalf the DNS is asked, for the user agent's `turns`. */
  asker?: string;
  onState?: (state: RegistrationState) => void;
}

export type RegistrationState =
  | { status: 'registering' }
  /** `flow` is where the registrar's calls come from. `expiresAt` is in milliseconds since 1970. */
  | { status: 'registered'; expiresAt: number; flow: Target }
  /** It is tried again at `retryAt`, unless it was stopped. `sipStatus` where the registrar gave one. */
  | { status: 'failed'; message: string; sipStatus?: number; retryAt: number }
  | { status: 'unregistered' };

const EXPIRES_SECONDS = 3600;
const MAX_EXPIRES_SECONDS = 86_400;
/** RFC 5626 section 4.5: from 30 seconds on, doubled, up to half an hour. */
const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 30 * 60_000;
/** A registrar that says no will say it again soon. */
const REFUSED_WAIT_MS = 60_000;

/** A registration that is kept up: refreshed before its end, and made again after a loss (RFC 3261 section 10.2). */
export class Registration implements Running {
  readonly #core: Core;
  readonly #options: RegisterOptions;
  readonly #digest: DigestClient;
  readonly #callId: string;
  readonly #tag: string;
  #cseq = 0;
  #expires: number;
  #failures = 0;
  #state: RegistrationState = { status: 'registering' };
  #next: Timer | undefined;
  #flow: Flow | undefined;
  #letGo = () => {};
  #stopWatching = () => {};
  #isStopped = false;
  /** A REGISTER that the registrar has not answered yet. */
  #underWay: Promise<unknown> = Promise.resolve();
  /** The registrar took one after the stop. */
  #isLeftBound = false;

  constructor(core: Core, options: RegisterOptions) {
    this.#core = core;
    this.#options = options;
    this.#digest = new DigestClient(options.credentials, core.random);
    this.#callId = randomToken(core.random, 16);
    this.#tag = randomToken(core.random);
    this.#expires = options.expiresSeconds ?? EXPIRES_SECONDS;
    core.running.add(this);
    this.#start();
  }

  get state(): RegistrationState {
    return this.#state;
  }

  /** Registers now, such as after a network came back. */
  refresh(): void {
    this.#next?.clear();
    if (!this.#isStopped) this.#start();
  }

  /** Unregisters; resolves when the registrar answered, or didn't in time. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#next?.clear();
    this.#release();
    const wasRegistered = this.#state.status === 'registered';
    // Section 10.2.4: no further one before the last is answered; that one may bind yet.
    await this.#underWay;
    if (wasRegistered || this.#isLeftBound) await this.#send(0).catch(() => {});
    this.#core.running.delete(this);
    this.#change({ status: 'unregistered' });
  }

  /** Ends it without a word, where nothing may be sent any more: what is registered runs out by itself. */
  abandon(): void {
    this.#isStopped = true;
    this.#next?.clear();
    this.#release();
    this.#core.running.delete(this);
    this.#change({ status: 'unregistered' });
  }

  #start(): void {
    this.#underWay = Promise.all([this.#underWay, this.#register()]);
  }

  async #register(): Promise<void> {
    try {
      const exchanged = await this.#send(this.#expires);
      if (this.#isStopped) {
        this.#isLeftBound ||= exchanged.kind === 'response' && Math.floor(exchanged.response.status / 100) === 2;
        return;
      }
      if (exchanged.kind === 'not_sent') this.#fail(exchanged.error.message, this.#backoff());
      else if (exchanged.kind === 'silence') this.#fail(exchanged.message, this.#backoff());
      else this.#receive(exchanged.response, exchanged.flow);
    } catch (error) {
      if (!(error instanceof TransportError || error instanceof SipSyntaxError)) this.#core.report(error);
      if (!this.#isStopped) this.#fail((error as Error).message, this.#backoff());
    }
  }

  async #send(expires: number): Promise<Exchanged> {
    const { registrar, address, transport, outboundProxy, contactUser } = this.#options;
    let last: Exchanged | undefined;
    for (const target of await this.#core.locateGranted(outboundProxy ?? registrar, transport)) {
      try {
        const flow = await this.#core.open(target);
        const user = contactUser ?? parseUri(address).user;
        const make = (over: Flow) => {
          this.#cseq += 1;
          const from = `<${address}>;tag=${this.#tag}`;
          const parts = { method: 'REGISTER', uri: registrar, from, to: `<${address}>`, callId: this.#callId };
          const request = startRequest(this.#core, over, { ...parts, cseq: this.#cseq, branch: newBranch(this.#core) });
          request.headers.add('contact', contactOf(over, user, registrar)).add('expires', String(expires));
          return request;
        };
        last = await exchange(this.#core, flow, make, this.#digest);
        if (last.kind === 'response' && last.response.status !== 503) return last;
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        last = { kind: 'not_sent', error };
      }
    }
    return last ?? { kind: 'not_sent', error: new TransportError('dns', 'The registrar has no address.') };
  }

  #receive(response: SipResponse, flow: Flow): void {
    const { status, phrase } = response;
    if (status === 423) {
      // Section 10.2.8: the registrar wants longer ones.
      const least = Number(/^\d{1,7}/.exec(response.headers.get('min-expires') ?? '')?.[0] ?? 0);
      const isLonger = least > this.#expires && least <= MAX_EXPIRES_SECONDS;
      if (isLonger) this.#expires = least;
      this.#fail(`${status} ${phrase}`, isLonger ? 0 : REFUSED_WAIT_MS, status);
    } else if (status >= 200 && status < 300) this.#succeed(response, flow);
    else
      this.#fail(
        `${status} ${phrase}`,
        Math.max(this.#backoff(), status < 500 ? REFUSED_WAIT_MS : retryAfterMs(response)),
        status,
      );
  }

  #succeed(response: SipResponse, flow: Flow): void {
    this.#failures = 0;
    const seconds = this.#grantedBy(response, flow);
    this.#release();
    this.#flow = flow;
    this.#letGo = this.#core.keepalives.hold(flow);
    // A lost connection takes the calls with it that would have come over it.
    this.#stopWatching = flow.onClosed(() => {
      if (!this.#isStopped)
        this.#fail('The connection with the registrar closed.', 1000 * (1 + this.#core.random.number()));
    });
    this.#change({ status: 'registered', expiresAt: this.#core.timers.now() + seconds * 1000, flow: flow.target });
    // Half of a short one, and some time before the end of a long one, at no common moment.
    const before = Math.min(seconds / 2, 300 + this.#core.random.number() * 60);
    this.#schedule((seconds - before) * 1000);
  }

  /** Section 10.2.4: of the Contacts that come back, ours says for how long. */
  #grantedBy(response: SipResponse, flow: Flow): number {
    const ours = parseUri(parseNameAddr(contactOf(flow, undefined, this.#options.registrar)).uri);
    const contacts = response.headers.all('contact').flatMap((value) => {
      try {
        const { uri, parameters } = parseNameAddr(value);
        const { host, port } = parseUri(uri);
        return [{ isOurs: host === ours.host.toLowerCase() && port === ours.port, expires: parameters.get('expires') }];
      } catch {
        return [];
      }
    });
    const named =
      contacts.find(({ isOurs }) => isOurs)?.expires ?? response.headers.get('expires') ?? String(this.#expires);
    return Math.min(Math.max(Number(/^\d{1,7}/.exec(named)?.[0] ?? this.#expires), 10), MAX_EXPIRES_SECONDS);
  }

  #fail(message: string, waitMs: number, sipStatus?: number): void {
    this.#release();
    if (waitMs > 0) this.#failures += 1;
    const retryAt = this.#core.timers.now() + waitMs;
    if (waitMs > 0) this.#change({ status: 'failed', message, retryAt, ...(sipStatus !== undefined && { sipStatus }) });
    this.#schedule(waitMs);
  }

  #backoff(): number {
    const longest = Math.min(FIRST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS);
    return longest * (0.5 + this.#core.random.number() / 2);
  }

  #schedule(ms: number): void {
    this.#next?.clear();
    this.#next = this.#core.timers.after(ms, () => this.#start());
  }

  #release(): void {
    this.#stopWatching();
    this.#letGo();
    this.#flow = undefined;
    this.#stopWatching = () => {};
    this.#letGo = () => {};
  }

  #change(state: RegistrationState): void {
    this.#state = state;
    try {
      this.#options.onState?.(state);
    } catch (error) {
      this.#core.report(error);
    }
  }
}

const retryAfterMs = (response: SipResponse): number =>
  Math.min(Number(/^\d{1,6}/.exec(response.headers.get('retry-after') ?? '')?.[0] ?? 0) * 1000, LONGEST_WAIT_MS);
