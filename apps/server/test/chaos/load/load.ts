import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../src/foundation/database/database.ts';
import type { ChaosOptions } from '../options.ts';
import { openWork } from '../rest.ts';
import { type Clients, GivenUp } from './client-record.ts';
import { receiveCall, runBatch, runCall, runCampaign, startRun } from './dialling.ts';
import { addDocument } from './files.ts';
import type { Setting } from './setting.ts';
import type { Watching } from './streams.ts';

/** What may be open before new work is held back: a slow machine would not come to rest in time. */
const MOST_OPEN = 120;
const LOOK_MS = 1000;

/** Asks for everything, over and over, until it is over; then waits for what was begun, and for streams that end. */
export async function makeLoad(
  database: Database,
  clients: Clients,
  { load, setting, watching }: Pick<ChaosOptions, 'load'> & { setting: Setting; watching: Watching },
): Promise<void> {
  let hasRoom = true;
  const looking = (async () => {
    for (; !clients.isOver(); await sleep(LOOK_MS))
      hasRoom = await openWork(database).then(
        ({ length }) => length < MOST_OPEN * load,
        () => false,
      );
  })();
  const kinds: [apartMs: number, act: () => Promise<void>][] = [
    [5000, () => runCampaign(clients, setting, watching)],
    [2500, () => runBatch(clients, setting)],
    [1000, () => runCall(clients, setting)],
    [2000, () => receiveCall(clients, setting)],
    [500, () => startRun(clients, setting, watching)],
    [3000, () => addDocument(clients)],
  ];
  const goOn = async (apartMs: number, act: () => Promise<void>) => {
    const begun = new Set<Promise<void>>();
    while (!clients.isOver()) {
      if (!hasRoom) {
        await sleep(LOOK_MS / 4);
        continue;
      }
      const one: Promise<void> = act()
        .catch((error) => {
          if (!(error instanceof GivenUp)) throw error;
        })
        .finally(() => begun.delete(one));
      begun.add(one);
      await Promise.race([sleep(apartMs * (0.5 + clients.chance())), one.then(() => sleep(apartMs / 4))]);
      if (begun.size > 5) await Promise.race(begun);
    }
    await Promise.all(begun);
  };
  await Promise.all(kinds.map(([apartMs, act]) => goOn(apartMs / load, act)));
  await Promise.all([watching.ended(), looking]);
}
