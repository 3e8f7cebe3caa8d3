export { type Addressing, createAddressing } from './addressing.ts';
export type { Turns } from './cached-resolver.ts';
export type { Call } from './call.ts';
export type { CallEnd, Rejected, Why } from './call-end.ts';
export type { CallHandlers, Info, Progress } from './call-handlers.ts';
export { type Clock, type ClockTimer, systemClock } from './clock.ts';
export type { Dialog } from './dialog.ts';
export type { Credentials } from './digest-client.ts';
export type { Authentication } from './digest-server.ts';
export type { EndStoredOptions, StoredEnd } from './end-stored.ts';
export { Headers } from './headers.ts';
export { type CallIdentifiers, deriveIdentifiers } from './identifiers.ts';
export type { IncomingCall, ResponseOptions } from './incoming-call.ts';
export type { InviteOptions } from './invite-request.ts';
export { createLadder, type Ladder, type LadderEntry, redacted } from './ladder.ts';
export { locate } from './locate.ts';
export {
  addressIn,
  callIdOf,
  cseqOf,
  fromTagOf,
  type SipMessage,
  type SipRequest,
  type SipResponse,
  sdpOf,
  toTagOf,
} from './message.ts';
export { type NameAddr, parseNameAddr, writeNameAddr } from './name-addr.ts';
export { isPrivateAddress, type Networks, parseNetworks, plainAddress } from './networks.ts';
export type { OutgoingCall } from './outgoing-call.ts';
export { parseMessage } from './parse-message.ts';
export type { ProbeOptions, ProbeReport } from './probe.ts';
export { type Random, systemRandom } from './random.ts';
export { parseReasons, q850CauseOf, type Reason } from './reason.ts';
export type { Admission } from './receive-request.ts';
export type { RegisterOptions, Registration, RegistrationState } from './registration.ts';
export { createSystemResolver, type DnsAnswer, type Resolver, type SrvRecord, systemResolver } from './resolver.ts';
export { parseSdp, type SdpAddress, SdpError, type SdpMedia, type SessionDescription, writeSdp } from './sdp.ts';
export type { AudioCodec, AudioFormat, Direction, MediaAddress, SdpRefusal } from './sdp-audio.ts';
export { hasKeys, type MediaEncryption, type SrtpKey, type SrtpSuite } from './sdp-crypto.ts';
export { type AnswerRead, type AudioStream, type LocalAudio, type OfferAnswered, SdpSession } from './sdp-session.ts';
export { OfferRefused } from './sent-offers.ts';
export type { StoredDialog, StoredInvite } from './stored-dialog.ts';
export type { TlsOptions } from './stream-transport.ts';
export { SipSyntaxError } from './syntax.ts';
export type { TimerValues } from './timers.ts';
export { type Flow, type Target, TransportError, type TransportErrorCode, type TransportName } from './transport.ts';
export type { TransportOptions } from './transports.ts';
export { escapeUser, parseUri, type SipUri, writeUri } from './uri.ts';
export { createUserAgent, type UserAgent, type UserAgentOptions } from './user-agent.ts';
export { writeMessage } from './write-message.ts';
