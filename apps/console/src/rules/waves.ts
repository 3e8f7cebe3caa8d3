/** The loudest of each part of a recording, 0 to 1: of the callee, and of the agent. */
export interface Peaks {
  callee: number[];
  agent: number[];
}

/** What stands before the samples of a recording: WAV with two channels of 16 bits. */
const HEADER_BYTES = 44;
const FRAME_BYTES = 4;
const PARTS = 800;
const LOUDEST = 32_768;

function isRecording(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const [riff, channels, bits] = [view.getUint32(0), view.getUint16(22, true), view.getUint16(34, true)];
  return riff === 0x52494646 && channels === 2 && bits === 16;
}

/** Takes the peaks out of a recording as it comes; nothing if it is none. */
export async function peaksOf(stream: ReadableStream<Uint8Array>, sizeBytes: number): Promise<Peaks | undefined> {
  const each = Math.max(1, Math.ceil((sizeBytes - HEADER_BYTES) / FRAME_BYTES / PARTS));
  const callee: number[] = [];
  const agent: number[] = [];
  const reader = stream.getReader();
  let kept = new Uint8Array();
  let frame = -1;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const bytes = new Uint8Array(kept.length + value.length);
    bytes.set(kept);
    bytes.set(value, kept.length);
    let at = 0;
    if (frame === -1 && bytes.length >= HEADER_BYTES) {
      if (!isRecording(bytes)) {
        await reader.cancel();
        return undefined;
      }
      [at, frame] = [HEADER_BYTES, 0];
    }
    const view = new DataView(bytes.buffer);
    for (; frame >= 0 && at + FRAME_BYTES <= bytes.length; at += FRAME_BYTES, frame += 1) {
      const part = Math.floor(frame / each);
      callee[part] = Math.max(callee[part] ?? 0, Math.abs(view.getInt16(at, true)) / LOUDEST);
      agent[part] = Math.max(agent[part] ?? 0, Math.abs(view.getInt16(at + 2, true)) / LOUDEST);
    }
    kept = bytes.slice(at);
  }
  return frame > 0 ? { callee, agent } : undefined;
}

/** As loud as the loudest of both fills its channel. */
export function filled({ callee, agent }: Peaks): Peaks {
  const most = Math.max(0.01, ...callee, ...agent);
  const louder = (peaks: number[]) => peaks.map((peak) => peak / most);
  return { callee: louder(callee), agent: louder(agent) };
}

/** Points of a channel's loudest samples, 0 to 1, as a shape around a middle: what is sent on is mirrored. */
export function waveOf(peaks: readonly number[], middle: number, height: number): string {
  const at = (peak: number) => (Math.min(1, Math.max(0, peak)) * height).toFixed(2);
  const up = peaks.map((peak, x) => `${x} ${(middle - Number(at(peak))).toFixed(2)}`);
  const down = peaks.map((peak, x) => `${x} ${(middle + Number(at(peak))).toFixed(2)}`).reverse();
  return peaks.length === 0 ? '' : `M${[...up, ...down].join('L')}Z`;
}

/** Which of the turns is being said at a second of the recording, which begins with the answer; -1 before the first. */
export function turnAt(turns: readonly { at: string }[], answeredAt: number, second: number): number {
  const now = answeredAt + second * 1000;
  return turns.findLastIndex(({ at }) => Date.parse(at) <= now);
}
