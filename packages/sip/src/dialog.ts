import { type Core, dialogKey, newBranch, startRequest } from './core.ts';
import { addressIn, callIdOf, cseqOf, fromTagOf, type SipRequest, type SipResponse, toTagOf } from './message.ts';
import { parseNameAddr } from './name-addr.ts';
import { isPrivateAddress } from './networks.ts';
import { type Flow, type Target, TransportError } from './transport.ts';
import { bareHost, parseUri, type SipUri, writeHost } from './uri.ts';

/** A dialog (RFC 3261 section 12): what both sides must know to send requests to each other. Plain data. */
export interface Dialog {
  callId: string;
  /** From or To as we write it, with our tag. */
  local: string;
  localTag: string;
  /** The same of the peer. Without a tag of its own an old peer has '' (section 12.1.1). */
  remote: string;
  remoteTag: string;
  localCseq: number;
  /** 0 before the peer's first request. */
  remoteCseq: number;
  /** Where the peer wants requests: its Contact. */
  remoteTarget: string;
  /** The values of Route, in their order. */
  routeSet: string[];
  /** Where the peer's messages come from, or ours went to at first. */
  peer: Target;
}

/** The dialog that a response to our INVITE makes (section 12.1.2). */
export function callerDialog(request: SipRequest, response: SipResponse, peer: Target): Dialog {
  return {
    callId: callIdOf(request),
    local: request.headers.get('from')!,
    localTag: fromTagOf(request)!,
    remote: response.headers.get('to')!,
    remoteTag: toTagOf(response) ?? '',
    localCseq: cseqOf(request).number,
    remoteCseq: 0,
    remoteTarget: usableUri(addressIn(response, 'contact')) ?? request.uri,
    routeSet: response.headers.all('record-route').toReversed(),
    peer,
  };
}

/** The dialog that our response to an INVITE makes (section 12.1.1). */
export function calleeDialog(request: SipRequest, localTag: string, peer: Target): Dialog {
  const to = request.headers.get('to')!;
  const from = request.headers.get('from')!;
  return {
    callId: callIdOf(request),
    local: `${to};tag=${localTag}`,
    localTag,
    remote: from,
    remoteTag: fromTagOf(request)!,
    localCseq: 0,
    remoteCseq: cseqOf(request).number,
    remoteTarget:
      usableUri(addressIn(request, 'contact')) ??
      usableUri(parseNameAddr(from).uri) ??
      `sip:${writeHost(peer.address)}:${peer.port}`,
    routeSet: request.headers.all('record-route'),
    peer,
  };
}

export const keyOf = ({ callId, localTag, remoteTag }: Dialog): string => dialogKey(callId, localTag, remoteTag);

/** A request or response that refreshes the target (section 12.2) may name a new Contact. */
export function refreshTarget(dialog: Dialog, message: SipRequest | SipResponse): boolean {
  const named = addressIn(message, 'contact');
  if (named === dialog.remoteTarget) return false;
  const contact = usableUri(named);
  if (contact === undefined) return false;
  dialog.remoteTarget = contact;
  return true;
}

/** A request within the dialog, with the next CSeq unless told which (sections 12.2.1.1 and 8.1.2). */
export function dialogRequest(core: Core, dialog: Dialog, flow: Flow, method: string, cseq?: number): SipRequest {
  if (cseq === undefined) dialog.localCseq += 1;
  const { uri, routes } = routeOf(dialog);
  return startRequest(core, flow, {
    method,
    uri,
    routes,
    from: dialog.local,
    to: dialog.remote,
    callId: dialog.callId,
    cseq: cseq ?? dialog.localCseq,
    branch: newBranch(core),
  });
}

/** With a strict router first in the route set, the target goes to its end (section 12.2.1.1). */
function routeOf({ routeSet, remoteTarget }: Dialog): { uri: string; routes: string[] } {
  const [first, ...rest] = routeSet;
  const firstUri = first === undefined ? undefined : readUri(first);
  if (firstUri === undefined || firstUri.uri.parameters.has('lr')) return { uri: remoteTarget, routes: routeSet };
  return { uri: firstUri.text, routes: [...rest, `<${remoteTarget}>`] };
}

/**
 * A way to the next hop of the dialog's requests. Where the peer names an address that nobody can reach, such as a
 * private one behind its NAT, or where it can't be connected to, it is the address that its messages came from.
 *
 * @param current the way that served so far
 * @param isSecret whether what is sent may not leave TLS if the peer's messages came over that
 */
export async function openDialogFlow(core: Core, dialog: Dialog, current: Flow, isSecret = false): Promise<Flow> {
  const { peer } = dialog;
  const hop = dialog.routeSet[0] === undefined ? undefined : readUri(dialog.routeSet[0])?.uri;
  let targets: Target[] = [];
  try {
    targets = await locateHop(core, hop ?? parseUri(dialog.remoteTarget), peer);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
  }
  const mayServe = ({ transport }: Target) => !isSecret || peer.transport !== 'tls' || transport === 'tls';
  for (const target of [...targets.filter(mayServe), peer]) {
    if (serves(current, target)) return current;
    try {
      return await core.open(target);
    } catch (error) {
      if (target === peer || !(error instanceof TransportError)) throw error;
    }
  }
  throw new TransportError('unreachable', 'The dialog has no next hop.');
}

async function locateHop(core: Core, hop: SipUri, peer: Target): Promise<Target[]> {
  const host = bareHost(hop.host);
  const isHidden = host !== peer.address && isPrivateAddress(host) && !isPrivateAddress(peer.address);
  if (hop.scheme === 'tel' || isHidden) return [peer];
  // A peer that called over a connection, and names no transport, means that connection's.
  const saysNone = hop.scheme === 'sip' && !hop.parameters.has('transport');
  const targets = await core.locate(hop, saysNone ? peer.transport : undefined);
  return targets.map((target) => {
    const isPeer = target.address === peer.address && target.transport === peer.transport;
    return isPeer && peer.serverName !== undefined ? { ...target, serverName: peer.serverName } : target;
  });
}

/** Whether an open connection leads to a target: the one to its address, or one that the peer itself opened from there. */
function serves({ target, isOpen, isInbound }: Flow, wanted: Target): boolean {
  return (
    isOpen &&
    target.transport === wanted.transport &&
    target.address === wanted.address &&
    (target.port === wanted.port || isInbound)
  );
}

function readUri(value: string): { text: string; uri: SipUri } | undefined {
  try {
    const text = parseNameAddr(value).uri;
    return { text, uri: parseUri(text) };
  } catch {
    return undefined;
  }
}

/** A Contact that can't be read is as none. */
function usableUri(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    parseUri(text);
    return text;
  } catch {
    return undefined;
  }
}
