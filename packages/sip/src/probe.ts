import { type Core, newBranch, startRequest } from './core.ts';
import { type Credentials, DigestClient } from './digest-client.ts';
import { type Exchanged, exchange } from './exchange.ts';
import { randomToken } from './random.ts';
import { isRefused } from './refused-port.ts';
import { SipSyntaxError } from './syntax.ts';
import { type Flow, type Target, TransportError, type TransportName } from './transport.ts';
import { parseUri, type SipUri, writeUri } from './uri.ts';

/** A trunk to look at. */
export interface ProbeOptions {
  /** Such as `sip:sip.example.com`. */
  uri: string;
  transport?: TransportName;
  outboundProxy?: string;
  /** Look at these instead of asking the DNS. */
  targets?: readonly Target[];
  credentials?: Credentials;
  /** The address of From; by default the user's, or `probe`, at the trunk. */
  from?: string;
  /** Whether a REGISTER without Contact, which binds nothing, verifies credentials that OPTIONS doesn't. */
  verifiesCredentials?: boolean;
  /** How long each answer may take; 5,000 by default. */
  timeoutMs?: number;
  /** On whose behalf the DNS is asked, for the user agent's `turns`. */
  asker?: string;
}

/** What is known of a trunk: whether somebody is there, and apart from that, whether he takes the credentials. */
export interface ProbeReport {
  reachability:
    | 'reachable'
    /** The URI is none. */
    | 'invalid'
    | 'dns'
    | 'not_allowed'
    | 'not_granted'
    | 'refused'
    | 'timeout'
    | 'unreachable'
    | 'tls'
    /** It answers, with a 5xx. */
    | 'server_error';
  credentials: 'verified' | 'rejected' | 'unverified' | 'not_given';
  /** The last final status. */
  status?: number;
  /** Where it was answered, or tried last. */
  target?: Target;
  roundTripMs?: number;
  message: string;
}

const TIMEOUT_MS = 5000;
const MAX_TARGETS = 4;

/** Looks at a trunk by OPTIONS, target by target, and at its credentials by REGISTER where that is wanted. */
export async function probe(core: Core, options: ProbeOptions): Promise<ProbeReport> {
  const credentials = options.credentials ? 'unverified' : 'not_given';
  let uri: SipUri;
  let targets: readonly Target[];
  try {
    uri = parseUri(options.uri);
    const to = options.outboundProxy ?? options.uri;
    targets = options.targets
      ? await core.granted(to, options.targets)
      : await core.locateGranted(to, options.transport);
  } catch (error) {
    if (error instanceof SipSyntaxError) return { reachability: 'invalid', credentials, message: error.message };
    if (error instanceof TransportError)
      return { reachability: reachabilityOf(error), credentials, message: error.message };
    throw error;
  }
  let report: ProbeReport = { reachability: 'dns', credentials, message: 'There is no target.' };
  for (const target of targets.slice(0, MAX_TARGETS)) {
    report = await probeTarget(core, options, uri, target);
    if (report.reachability === 'reachable') return report;
  }
  return report;
}

async function probeTarget(core: Core, options: ProbeOptions, uri: SipUri, target: Target): Promise<ProbeReport> {
  const digest = new DigestClient(options.credentials, core.random);
  const unknown = options.credentials ? 'unverified' : 'not_given';
  const failed = (reachability: ProbeReport['reachability'], message: string): ProbeReport => ({
    reachability,
    credentials: unknown,
    target,
    message,
  });
  let flow: Flow;
  try {
    flow = await core.open(target);
  } catch (error) {
    if (error instanceof TransportError) return failed(reachabilityOf(error), error.message);
    throw error;
  }
  if (target.transport === 'udp' && (await isRefused(target)))
    return failed('refused', `${target.address}:${target.port} refuses UDP.`);
  const from = performance.now();
  const asked = await ask(core, flow, 'OPTIONS', options, uri, digest);
  if (asked.kind === 'not_sent') return failed(reachabilityOf(asked.error), asked.error.message);
  if (asked.kind === 'silence') return failed('timeout', asked.message);
  const { status, phrase } = asked.response;
  const answered = { target, status, roundTripMs: performance.now() - from, message: `${status} ${phrase}` };
  // 501 says that it is there, and doesn't care for OPTIONS.
  if (status >= 500 && status !== 501) return { ...answered, reachability: 'server_error', credentials: unknown };
  const report: ProbeReport = { ...answered, reachability: 'reachable', credentials: judge(options, asked) };
  if (report.credentials !== 'unverified' || !options.verifiesCredentials) return report;
  return verify(core, flow, options, uri, report);
}

/**
 * Only who was challenged has shown anything: many answer OPTIONS to anybody. Who is challenged again has the wrong ones; a
 * 403 may forbid the request itself, as where nobody registers.
 */
function judge(
  options: ProbeOptions,
  { response, wasChallenged }: Exchanged & { kind: 'response' },
): ProbeReport['credentials'] {
  if (!options.credentials) return 'not_given';
  if (!wasChallenged) return 'unverified';
  if (response.status === 401 || response.status === 407) return 'rejected';
  return response.status === 403 ? 'unverified' : 'verified';
}

async function verify(
  core: Core,
  flow: Flow,
  options: ProbeOptions,
  uri: SipUri,
  report: ProbeReport,
): Promise<ProbeReport> {
  const digest = new DigestClient(options.credentials, core.random);
  const asked = await ask(core, flow, 'REGISTER', options, uri, digest);
  if (asked.kind !== 'response') return report;
  const { status, phrase } = asked.response;
  const credentials = judge(options, asked);
  if (credentials === 'unverified') return report;
  const message = credentials === 'rejected' ? `The credentials are refused: ${status} ${phrase}` : report.message;
  return { ...report, status, credentials, message };
}

function ask(
  core: Core,
  flow: Flow,
  method: 'OPTIONS' | 'REGISTER',
  options: ProbeOptions,
  uri: SipUri,
  digest: DigestClient,
): Promise<Exchanged> {
  const domain = writeUri({
    scheme: uri.scheme,
    host: uri.host,
    ...(uri.port !== undefined && { port: uri.port }),
    parameters: new Map(),
  });
  const account = `${uri.scheme}:${uri.user ?? options.credentials?.username ?? 'probe'}@${uri.host}`;
  const from = method === 'REGISTER' ? account : (options.from ?? account);
  const to = method === 'REGISTER' ? account : domain;
  const callId = randomToken(core.random, 16);
  const tag = randomToken(core.random);
  let cseq = 0;
  const make = (over: Flow) => {
    cseq += 1;
    const parts = { method, uri: domain, from: `<${from}>;tag=${tag}`, to: `<${to}>`, callId, cseq };
    return startRequest(core, over, { ...parts, branch: newBranch(core) });
  };
  return exchange(core, flow, make, digest, options.timeoutMs ?? TIMEOUT_MS);
}

const named = ['refused', 'timeout', 'tls', 'not_allowed', 'not_granted', 'dns'] as const;
const reachabilityOf = ({ code }: TransportError): ProbeReport['reachability'] =>
  named.find((each) => each === code) ?? 'unreachable';
