export { type AudioCodec, type AudioFormat, type AudioStream, isUnspecified } from './audio-stream.ts';
export { CalleeListener, type Heard, type Signal } from './callee-listener.ts';
export { alawToUlaw, BYTES_PER_MS, FRAME, pcmToUlaw, SAMPLE_RATE, ULAW_SILENCE, ulawPcm, ulawToAlaw } from './g711.ts';
export { isAudible, levelOf } from './level.ts';
export type { CallOptions, MediaEvent, MediaStats } from './media-events.ts';
export type { OpenCallOptions } from './media-plane.ts';
export {
  type IsOpenAddress,
  type MediaHandle,
  MediaPlane,
  type MediaPlaneOptions,
  NoMediaRoomError,
} from './media-plane.ts';
export { MediaFault, MediaLostError } from './media-thread.ts';
export { PcmToUlaw, UlawToPcm } from './pcm.ts';
export { Playout } from './playout.ts';
export { readUlawWav } from './read-wav.ts';
export { Resampler } from './resample.ts';
export { type RtpPacket, readRtp, writeRtpHeader } from './rtp.ts';
export { type PortShares, RtpPorts } from './rtp-ports.ts';
export { type ServeMediaOptions, serveMedia } from './serve-media.ts';
export { SrtpReceiver, SrtpSender } from './srtp.ts';
export type { SrtpKey, SrtpKeys, SrtpSuite } from './srtp-key.ts';
export { digitsMs, isDigit, isPause } from './telephone-event.ts';
export type { EndOf, OpenVoices, Speech, Voice, Voices } from './voice.ts';
export { Words } from './words.ts';
