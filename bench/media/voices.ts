import type { Effort } from '../rounds.ts';
import { median } from '../rounds.ts';
import type { Cost, Found, Row } from '../table.ts';
import { bargeIns } from './barge-in.ts';
import { type Figures, measureMedia, peerCommand } from './media.ts';
import type { Voices } from './server.ts';

const SIZES = {
  whole: { rounds: 3, scripts: 200, models: 100, bargeIns: 100 },
  quick: { rounds: 1, scripts: 20, models: 10, bargeIns: 10 },
};

/**
 * Scripts and speech models at once, in one media thread, beside as many agents that are streams, and beside the bare relay;
 * and how soon a callee who interrupts them hears nothing more.
 */
export async function benchVoices(effort: Effort): Promise<Found> {
  const { rounds, scripts, models, bargeIns: count } = SIZES[effort];
  const command = peerCommand();
  const calls = scripts + models;
  const sides = { voices: ['server', { scripts, models }], streams: ['server', {}], relay: ['relay', {}] } as const;
  type Side = keyof typeof sides;
  const runs: Record<Side, Figures[]> = { voices: [], streams: [], relay: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const [side, [whose, voices]] of Object.entries(sides)) {
      const found = await measureMedia(effort, command, whose, calls, 'nothing', voices as Voices);
      console.error(`  ${side}, ${calls} calls: ${JSON.stringify(found)}`);
      runs[side as Side].push(found);
    }
  const of = (side: Side, figure: keyof Figures) => median(runs[side].map((each) => each[figure]));
  const what = `${scripts} scripts and ${models} models`;
  const row = (peer: string, side: Side, aim?: string): Row => ({
    ...{ what: `${what}, CPU a call-second`, ours: of('voices', 'cpuMs'), unit: 'ms' },
    ...{ peer, theirs: of(side, 'cpuMs'), ...(aim && { aim }) },
  });
  const costs: Cost[] = [
    { what: `${what}, jitter p99`, value: of('voices', 'jitterP99'), unit: 'ms', aim: '≤ 5 ms' },
    { what: `${what}, packets lost`, value: of('voices', 'lost'), unit: '', aim: '0' },
  ];
  const { byModel, byKey } = await bargeIns(count);
  const late = (whose: string, found: { p50: number; p99: number }): Cost[] => [
    { what: `${whose}, until it is silent, p50`, value: found.p50, unit: 'ms' },
    { what: `${whose}, until it is silent, p99`, value: found.p99, unit: 'ms', aim: '≤ 150 ms' },
  ];
  return {
    rows: [row(`${calls} stream agents`, 'streams', '≤ 1.2'), row('a bare relay in Node', 'relay')],
    costs: [
      ...costs,
      ...late('a model is told that the callee speaks', byModel),
      ...late('a key is pressed into a script', byKey),
    ],
  };
}
