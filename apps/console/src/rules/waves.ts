import type { components } from '@trunkline/client';

/** The loudest of each part of a recording, 0 to 1: of the callee, and of the agent. */
export type Peaks = Pick<components['schemas']['CallRecordingPeaks'], 'callee' | 'agent'>;

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
