import { setTimeout as sleep } from 'node:timers/promises';
import { forkServer } from '../child.ts';
import { settle, startPostgres } from '../postgres.ts';
import { untilQuiet } from '../quiet.ts';
import { type Effort, inTurns, median } from '../rounds.ts';
import type { Found, Row } from '../table.ts';
import { call, type Endpoint, now, openEndpoint, startReceiver } from './endpoint.ts';

/** Thousands of events of each turn; and, where they are compared, of one with ten times as many that wait. */
const SIZES = {
  whole: { rounds: 5, thousands: 30, manyRounds: 3, many: 300 },
  quick: { rounds: 1, thousands: 5, manyRounds: 1, many: 50 },
};

/** Delivers so many thousand events, and tells how many it did a second. */
type Turn = (thousands: number) => Promise<number>;

/** The peer, in a process of its own: what it has compiled and left to be collected is not ours to bear. */
async function barePosts(url: string): Promise<Turn> {
  const peer = await forkServer(new URL('./peer.ts', import.meta.url), { url });
  const body = JSON.stringify({ type: 'call.ended', timestamp: now, data: call });
  return (thousands) => peer.ask<number>({ events: thousands * 1000, body });
}

/** From events that are written to deliveries that are: handed over, sent, answered, noted. */
function trunkline({ connectionString, write, tried, startSender, refuseUnlessDelivered }: Endpoint): Turn {
  return async (thousands) => {
    await write(thousands);
    await settle(connectionString);
    const [from, last] = [performance.now(), tried() + thousands * 1000];
    const sender = startSender();
    while (tried() < last) await sleep(5);
    // Notes what came of the last ones.
    await sender.close();
    const seconds = (performance.now() - from) / 1000;
    await refuseUnlessDelivered();
    return (thousands * 1000) / seconds;
  };
}

/** Webhook deliveries against bare signed POSTs to the same receiver, and with many that wait against few. */
export async function benchWebhooks(effort: Effort): Promise<Found> {
  const { rounds, thousands, manyRounds, many } = SIZES[effort];
  const postgres = await startPostgres();
  const { url } = await startReceiver();
  const turns = { peer: await barePosts(url), ours: trunkline(await openEndpoint(postgres, url)) };
  const turn = async (name: keyof typeof turns, events: number) => {
    await untilQuiet(effort);
    const rate = await turns[name](events);
    console.error(`  ${name}, ${events},000: ${Math.round(rate)} /s`);
    return rate;
  };
  const rates = await inTurns(['peer', 'ours'], rounds, (name) => turn(name, thousands));
  const waiting = await inTurns(['few', 'many'], manyRounds, (name, isWarmUp) =>
    turn('ours', name === 'few' || isWarmUp ? thousands : many),
  );
  const row = (what: string, ours: number[], peer: string, theirs: number[], aim: string): Row => ({
    ...{ what, ours: median(ours), peer, theirs: median(theirs), unit: '/s', aim },
  });
  return {
    rows: [
      row('webhook deliveries', rates.ours, 'signed POSTs by undici', rates.peer, '≥ 0.5'),
      row(
        `webhook deliveries, ${many},000 waiting`,
        ...([waiting.many, `Trunkline, ${thousands},000 waiting`, waiting.few, '≥ 0.9'] as const),
      ),
    ],
  };
}
