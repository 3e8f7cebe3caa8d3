import { isReserved } from '../../foundation/outbound-http/address-guard.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import type { CallOutcome, EndedBy, SipAnswer, TestCallMedia } from '../../lines/telephony/call-outcome.ts';
import { isCapacity } from '../../lines/telephony/outcomes.ts';

type Finding = components['schemas']['TestCallFinding'];
type FindingCode = Finding['code'];
type Verdict = components['schemas']['TestCallVerdict'];

/** What is known of a test call that has ended. */
export interface TestCallFacts extends SipAnswer {
  simulated: boolean;
  /** Whether it was taken back, and nothing rang. */
  wasReturned: boolean;
  outcome: CallOutcome;
  endedBy: EndedBy;
  hasRung: boolean;
  /** From the answer to the end; absent where nobody answered. */
  talkedMs?: number;
  /** Of the simulator, which counts nothing else. */
  packetsReceived?: number;
  /** Absent where the server that made the call did not live to tell, and from the simulator. */
  media?: TestCallMedia;
}

/** In so short a talk a phone may have sent nothing yet. */
const SHORT_MS = 2000;
/** Loss that is heard. */
const MOST_LOST = 0.03;

/** What a test call that has ended means: the most likely cause first. */
export function explainTestCall(facts: TestCallFacts): { verdict: Verdict; findings: Finding[] } {
  const codes = [...(facts.simulated ? ['simulated' as const] : []), ...codesOf(facts)];
  return { verdict: verdictOf(codes), findings: codes.map((code) => ({ code, message: messages[code](facts) })) };
}

function verdictOf(codes: FindingCode[]): Verdict {
  if (codes.some((code) => faults.has(code))) return 'fault';
  return codes.includes('ok') && !codes.includes('simulated') ? 'works' : 'inconclusive';
}

const faults: ReadonlySet<FindingCode> = new Set<FindingCode>([
  ...([
    'private_address',
    'no_sound_received',
    'wrong_key',
    'no_sound_sent',
    'sound_lost',
    'sound_lost_there',
  ] as const),
  ...(['no_common_codec', 'credentials_rejected', 'forbidden', 'number_format', 'no_room', 'trunk_failed'] as const),
  ...(['trunk_unreachable', 'no_response'] as const),
]);

function codesOf(facts: TestCallFacts): FindingCode[] {
  const { wasReturned, outcome, endedBy, simulated, media, talkedMs } = facts;
  if (wasReturned) return ['not_placed'];
  const isLost = !simulated && !media;
  if (outcome === 'unknown') return isLost || simulated ? ['server_lost'] : [...privateAddress(facts), 'no_response'];
  // Whoever took the call over has cancelled it.
  if (isLost && outcome === 'cancelled' && endedBy === 'error') return ['server_lost'];
  if (talkedMs === undefined) return [unanswered(facts)];
  if (isLost) return ['server_lost'];
  return outcome === 'trunk_error' ? ['no_common_codec'] : ofSound(facts, talkedMs);
}

/** The answers to a description of sound that can't be taken (RFC 3261 sections 21.4.13, 21.4.26 and 21.6.4). */
const NOT_ACCEPTABLE: ReadonlySet<number | undefined> = new Set([415, 488, 606]);

/** Why a call came to no answer. */
function unanswered({ outcome, hasRung, ...answer }: TestCallFacts): FindingCode {
  switch (outcome) {
    case 'busy':
    case 'declined':
      return outcome;
    case 'no_answer':
      return hasRung ? 'no_answer' : 'never_rang';
    case 'invalid_number':
      return 'number_format';
    case 'agent_error':
      // It has no agent: the sound died here before the answer.
      return 'server_lost';
    case 'trunk_error':
      return ofTrunk(answer);
    default:
      return 'ended';
  }
}

function ofTrunk(answer: SipAnswer): FindingCode {
  const { sipStatus } = answer;
  if (sipStatus === undefined) return 'trunk_unreachable';
  if (isCapacity(answer)) return 'no_room';
  if (NOT_ACCEPTABLE.has(sipStatus)) return 'no_common_codec';
  if (sipStatus === 401 || sipStatus === 407) return 'credentials_rejected';
  return sipStatus === 403 ? 'forbidden' : 'trunk_failed';
}

function ofSound(facts: TestCallFacts, talkedMs: number): FindingCode[] {
  const { packetsSent, packetsLost = 0, packetsLostByPeer = 0, heardFrom, remoteAddress } = facts.media ?? {};
  const received = facts.media?.packetsReceived ?? facts.packetsReceived;
  if (received === undefined && !facts.simulated) return ['server_lost'];
  const isUndeciphered = facts.media?.packetsUndeciphered !== undefined;
  if (received === 0 && isUndeciphered) return ['wrong_key'];
  if (received === 0) return talkedMs < SHORT_MS ? ['too_short'] : [...privateAddress(facts), 'no_sound_received'];
  const faulty: FindingCode[] = [];
  if (packetsSent === 0) faulty.push('no_sound_sent');
  if (received !== undefined && packetsLost > MOST_LOST * (received + packetsLost)) faulty.push('sound_lost');
  if (packetsSent && packetsLostByPeer > MOST_LOST * packetsSent) faulty.push('sound_lost_there');
  const isElsewhere =
    heardFrom !== undefined && remoteAddress !== undefined && hostOf(heardFrom) !== hostOf(remoteAddress);
  return [...(faulty.length > 0 ? faulty : ['ok' as const]), ...(isElsewhere ? ['heard_elsewhere' as const] : [])];
}

/** A trunk on the internet can send nothing to an address of a network that is not on it. */
function privateAddress({ media }: TestCallFacts): FindingCode[] {
  const { localAddress, trunkAddress } = media ?? {};
  if (localAddress === undefined || trunkAddress === undefined) return [];
  return isReserved(hostOf(localAddress)) && !isReserved(hostOf(trunkAddress)) ? ['private_address'] : [];
}

/** `203.0.113.5` of `203.0.113.5:20000`, `2001:db8::1` of `[2001:db8::1]:20000`. */
const hostOf = (address: string): string => address.slice(0, address.lastIndexOf(':')).replace(/^\[|\]$/g, '');

/** Sound is sent to a private address only if it is the trunk's own, or the settings allow it. */
function closedAddress({ media }: TestCallFacts): string {
  const { remoteAddress, trunkAddress } = media ?? {};
  const host = remoteAddress && hostOf(remoteAddress);
  if (!host || !isReserved(host) || (trunkAddress && host === hostOf(trunkAddress))) return '';
  return ` It wants its sound sent to ${host}: let SIP_ALLOWED_ADDRESSES name that address too, if it is of your own network.`;
}

const NO_RTP =
  'Open the UDP ports from RTP_PORT_MIN to RTP_PORT_MAX in the firewall, set SIP_PUBLIC_ADDRESS behind a NAT, and ' +
  "switch off the router's SIP ALG.";

/** `404 Not Found`, as far as it was said. */
const saidBy = ({ sipStatus, sipReason }: SipAnswer): string =>
  [sipStatus, sipReason].filter((part) => part !== undefined).join(' ') || 'nothing';

const messages: Record<FindingCode, (facts: TestCallFacts) => string> = {
  ok: () =>
    'Sound came and went. If you heard neither the sentence nor the echo, look at localAddress and at the firewall of whoever is called.',
  simulated: () =>
    'No phone rang: the simulator took the call. Import a number with its trunk, and set SIP_HOST, for a real one.',
  private_address: ({ media }) =>
    `The trunk was told to send sound to ${hostOf(media!.localAddress!)}, which no one outside of your network can reach. Set SIP_PUBLIC_ADDRESS to the address that the world sees.`,
  no_sound_received: () => `The call was answered, and not one packet of sound came. ${NO_RTP}`,
  wrong_key: ({ media }) =>
    `${media!.packetsUndeciphered} packets of sound came, and none was encrypted by the key that the trunk gave, so nothing was heard. Ask whoever runs it whether its SRTP goes by the keys of its SDP (SDES), or set mediaEncryption to none.`,
  no_sound_sent: () =>
    'Sound came, and none was sent: the trunk asked for none, as for a call on hold. Ask whoever runs it.',
  sound_lost: ({ media }) =>
    `${media!.packetsLost} packets of sound were lost on the way here, so that speech is torn. Look at the network's load, and at wireless links.`,
  sound_lost_there: ({ media }) =>
    `${media!.packetsLostByPeer} packets of sound were lost on the way there, as the trunk says, so that it hears torn speech. Look at the network's load, and at the bandwidth outwards.`,
  heard_elsewhere: ({ media }) =>
    `Sound came from ${media!.heardFrom}, though the trunk had named ${media!.remoteAddress}: a NAT is in between. It is sent back to where it comes from, so this does no harm.`,
  too_short: () =>
    'The call ended before anything could be told. Answer it, say something, and hang up after some seconds.',
  no_common_codec: (facts) =>
    `The two sides found no way to speak to each other (${saidBy(facts)}). The trunk must take PCMU or PCMA: look at its codecs, and whether it demands SRTP or takes none (mediaEncryption).${closedAddress(facts)}`,
  credentials_rejected: (facts) =>
    `The trunk did not take the credentials (${saidBy(facts)}). Look at its username, password and authUsername.`,
  forbidden: (facts) =>
    `The trunk forbade the call (${saidBy(facts)}). It may not know the number that calls (callerIdHeader, fromUser), not allow this country, or not allow the address of the server.`,
  number_format: (facts) =>
    `The trunk knows no such number (${saidBy(facts)}). Where the number is right, it wants it written differently: look at numberFormat, country and dialPrefix of the trunk.`,
  no_room: (facts) =>
    `The trunk had no room for the call (${saidBy(facts)}). Look at the channels and calls a second that you have with it.`,
  trunk_failed: (facts) =>
    `The trunk answered ${saidBy(facts)}. Ask whoever runs it; getCallSip has all that was said.`,
  trunk_unreachable: () =>
    'The call could not be sent. Look at terminationUrl, transport and the firewall; validateTrunk says what is in the way. Where it finds nothing, the server itself could not: it had no RTP port free (RTP_PORT_MIN to RTP_PORT_MAX), say. Its log has the reason, beside the roomId.',
  no_response: () =>
    "The trunk did not answer the call at all, so nobody knows whether it rang. Look whether its answers reach SIP_PORT (firewall, SIP_PUBLIC_ADDRESS, the router's SIP ALG), and whether it allows the address of the server.",
  never_rang: (facts) =>
    `It did not ring (${saidBy(facts)}). The phone may be switched off; or the trunk did not find the number: look at numberFormat.`,
  no_answer: () => 'It rang, and nobody answered. Signalling works; answer the next call to try the sound.',
  busy: () => 'The phone was busy. Signalling works; try again to try the sound.',
  declined: (facts) =>
    `The call was declined (${saidBy(facts)}): by the phone, or by a carrier that does not like the number that calls.`,
  ended: () => 'The call was ended before anybody answered.',
  server_lost: () =>
    'The server that made the call, or its thread of sound, went down meanwhile, so nothing can be told. The call is not made again: start another one.',
  not_placed: () =>
    'The call was taken back before anything rang: its time had passed, or dialing was paused. Start another one.',
};
