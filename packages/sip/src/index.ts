export { type Clock, type ClockTimer, systemClock } from './clock.ts';
export { parseSdp, type SdpAddress, SdpError, type SdpMedia, type SessionDescription, writeSdp } from './sdp.ts';
export type { AudioCodec, AudioFormat, Direction, MediaAddress, SdpRefusal } from './sdp-audio.ts';
export { type AnswerRead, type AudioStream, type LocalAudio, type OfferAnswered, SdpSession } from './sdp-session.ts';
