import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { toId } from '../../apps/server/src/foundation/values/ids.ts';
import { newKey } from '../../apps/server/src/platform/api-keys/key.ts';
import { seedCampaign } from '../../apps/server/test/seed/campaign.ts';
import { type Child, forkServer, forkTrunkline } from '../child.ts';
import { load, requestText } from '../load.ts';
import { POOL_SIZE, startPostgres, temporaryFolder } from '../postgres.ts';
import { type Effort, inTurns, median } from '../rounds.ts';
import type { Found } from '../table.ts';
import type { PeerKind } from './peer.ts';

/**
 * As many streams as are a key's share of what a process keeps open; the events of each turn; and how long each process is
 * left alone before its turn.
 */
const SIZES = {
  whole: { streams: 5000, rounds: 5, events: 10, aloneMs: 3000 },
  quick: { streams: 1000, rounds: 1, events: 4, aloneMs: 1500 },
};
/** A campaign's stream tells of two changes a second. */
const APART_MS = 600;

/** Stands once in each event. */
const DATA = '\ndata:';

type Kind = 'trunkline' | PeerKind;

/** A server whose streams are open. */
interface Side {
  child: Child;
  /** How many frames of events have come, on all streams. */
  frames(): number;
  /** Bytes of its memory for each stream. */
  bytes: number;
  /** Has an event told to all of them. */
  tell(): Promise<void>;
}

/** Opens streams, and counts what comes. */
async function openStreams(child: Child, streams: number, request: string, tell: () => Promise<void>): Promise<Side> {
  const before = await child.memory();
  let frames = 0;
  let opened = 0;
  const sockets: Socket[] = [];
  for (let number = 0; number < streams; number += 1) {
    const socket = connect(child.port, '127.0.0.1');
    let rest: string | undefined;
    socket.on('data', (bytes) => {
      if (rest === undefined) opened += 1;
      const text = (rest ?? '') + bytes.toString('latin1');
      for (let at = text.indexOf(DATA); at !== -1; at = text.indexOf(DATA, at + 1)) frames += 1;
      rest = text.slice(1 - DATA.length);
    });
    socket.write(request);
    sockets.push(socket);
    if (number % 100 === 99) while (opened < number - 400) await sleep(5);
  }
  while (opened < streams) await sleep(20);
  await sleep(2000);
  return { child, frames: () => frames, bytes: ((await child.memory()) - before) / streams, tell };
}

/** A whole server, and the streams of one campaign, which is renamed. */
async function trunkline(streams: number): Promise<{ side: Side; event: object }> {
  const { database, connectionString } = await (await startPostgres()).database();
  const key = newKey('bench');
  const child = await forkTrunkline({
    ...{ DATABASE_URL: connectionString, DATA_DIR: await temporaryFolder(), BOOTSTRAP_API_KEY: key },
    ...{ POOL_SIZE: String(POOL_SIZE), RATE_LIMIT_PER_MINUTE: '0' },
  });
  const [{ id: workspaceId } = { id: '' }] = await database.inEngine(({ db }) =>
    db.selectFrom('workspaces').select('id').execute(),
  );
  const draft = { contacts_added: true, status: 'draft' } as const;
  const { campaignId } = await seedCampaign(database, { contacts: 0, workspaceId, campaign: draft });
  const url = `/v1/calls/campaigns/${toId('cmp', campaignId)}`;
  const headers = { 'X-API-Key': key };
  let renamed = 0;
  const side = await openStreams(child, streams, requestText('GET', `${url}/events`, headers), async () => {
    renamed += 1;
    await load(child.port, requestText('PATCH', url, headers, { name: `Spring ${renamed}` }), 1);
  });
  const read = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${child.port}${path}`, { headers });
    return ((await answer.json()) as { data: object }).data;
  };
  const event = {
    eventId: '1',
    eventType: 'campaign.progress',
    data: { campaign: await read(url), stats: await read(`${url}/stats`) },
  };
  return { side, event };
}

/** The same event, told by what knows of nothing else. */
async function peer(kind: PeerKind, streams: number, event: object): Promise<Side> {
  const child = await forkServer(new URL('./peer.ts', import.meta.url), { kind });
  const tell = requestText('POST', '/', {}, event);
  return openStreams(child, streams, requestText('GET', '/', {}), () => load(child.port, tell, 1));
}

/** @returns microseconds of CPU time for one event on one stream, beyond what the process takes right after one */
async function measure(effort: Effort, { child, frames, tell }: Side): Promise<number> {
  const { streams, events, aloneMs } = SIZES[effort];
  // A server's loops are awake for some seconds after an event, whoever follows it.
  const seen = frames();
  await tell();
  while (frames() < seen + streams) await sleep(5);
  const before = await child.cpu();
  await sleep(aloneMs);
  const [cpu, from] = [await child.cpu(), frames()];
  const alone = ((cpu - before) / aloneMs) * events * APART_MS;
  for (let told = 1; told <= events; told += 1) {
    const next = sleep(APART_MS);
    await tell();
    while (frames() < from + told * streams) await sleep(5);
    await next;
  }
  return ((await child.cpu()) - cpu - alone) / (events * streams);
}

/** What 5,000 open streams of one process cost: an event that all of them are told of, and the memory of each. */
export async function benchStreams(effort: Effort): Promise<Found> {
  const { streams, rounds } = SIZES[effort];
  const { side, event } = await trunkline(streams);
  const sides: Record<Kind, Side> = {
    ...{ trunkline: side, 'better-sse': await peer('better-sse', streams, event) },
    ...{ bare: await peer('bare', streams, event) },
  };
  const kinds = ['trunkline', 'better-sse', 'bare'] as const;
  const cpu = await inTurns(kinds, rounds, (kind) => measure(effort, sides[kind]));
  const names = { 'better-sse': 'better-sse', bare: 'bare node:http' };
  return {
    rows: (['better-sse', 'bare'] as const).flatMap((kind) => [
      {
        ...{ what: `an event on one of ${streams.toLocaleString('en')} streams, CPU`, unit: 'µs' },
        ...{ ours: median(cpu.trunkline), peer: names[kind], theirs: median(cpu[kind]) },
        ...(kind === 'better-sse' && { aim: '≤ 1' }),
      },
      {
        ...{ what: 'an open stream, memory', unit: 'KiB' },
        ...{ ours: sides.trunkline.bytes / 1024, peer: names[kind], theirs: sides[kind].bytes / 1024 },
        ...(kind === 'bare' && { aim: '≤ 1.2' }),
      },
    ]),
  };
}
