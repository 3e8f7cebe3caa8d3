import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient, type FeedEvent } from '@trunkline/client';
import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/foundation/database/database.ts';
import { toId } from '../../src/foundation/values/ids.ts';
import { newKey } from '../../src/platform/api-keys/key.ts';
import { freshDatabase } from '../database.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { type ServerProcess, startServerProcess } from '../server-process.ts';

type Call = components['schemas']['Call'];

const CONTACTS = 60;
/** After so many events a server is killed, and another one started. */
const KILLS = [40, 120];

/** Of every second callee it is recorded that they are won, while they are on the line. */
const winning = `
create function win() returns trigger language plpgsql as $$ begin
  new.result := '{"converted": true, "recordedAt": "2026-11-20T09:30:00.000Z"}'; return new; end $$;
create trigger win before update on calls for each row
  when (new.answered_at is not null and old.answered_at is null and new.to_number % 2 = 0) execute function win();`;

test('what a campaign has come to is read off its events, through two kills of the server', async () => {
  const { connection, drop } = await freshDatabase();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-feed-'));
  const apiKey = newKey('test');
  const start = () =>
    startServerProcess({
      DATABASE_URL: connection.connectionString,
      DATA_DIR: dataDir,
      BOOTSTRAP_API_KEY: apiKey,
      LEASE_SECONDS: '2',
      SIMULATOR_SPEED: '20',
    });
  let server = await start();
  const clientOf = ({ url }: ServerProcess) => createClient({ baseUrl: url, apiKey, maxRetries: 0 });
  const database = openDatabase({ connection, poolSize: 2, log: pino({ level: 'silent' }) });
  try {
    await database.pool.query(winning);
    const { id } = await database.inEngine(({ db }) =>
      db.selectFrom('workspaces').select('id').executeTakeFirstOrThrow(),
    );
    await clientOf(server).workspace.update({ eventFeed: true });
    const { after } = await clientOf(server).events.list({ after: 'latest' });
    const { campaignId } = await seedCampaign(database, { contacts: CONTACTS, workspaceId: id });
    const campaign = toId('cmp', campaignId);

    const events: FeedEvent[] = [];
    const isOver = () =>
      events.some(({ resourceId, event }) => resourceId === campaign && event.type === 'campaign.completed');
    for (const until of [...KILLS, Number.POSITIVE_INFINITY]) {
      const leaving = new AbortController();
      const lastEventId = events.at(-1)?.after ?? after;
      for await (const event of clientOf(server).events.stream({ lastEventId, signal: leaving.signal })) {
        events.push(event);
        if (isOver() || events.length >= until) break;
      }
      if (until === Number.POSITIVE_INFINITY) break;
      await server.kill();
      server = await start();
    }
    events.push(...(await clientOf(server).events.list({ after: events.at(-1)!.after })).items);

    expect(events.map((each) => Number(each.after))).toEqual(events.map((_, at) => Number(after) + 1 + at));
    const last = new Map<string, Call>();
    for (const { resourceId, event } of events)
      if (event.type.startsWith('call.')) last.set(resourceId, event.data as Call);
    const told = [...last.values()]
      .filter((call) => call.campaignId === campaign)
      .map(({ roomId, attempt, outcome, result }) => ({ roomId, attempt, outcome, won: result?.converted ?? false }));
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ id: string; attempt: number; outcome: string; won: boolean }>`
        select id, attempt, outcome, coalesce((result ->> 'converted')::boolean, false) as won
        from calls where campaign_id = ${campaignId} and dialed_at is not null`.execute(db),
    );
    const kept = rows.map(({ id: room, ...call }) => ({ roomId: toId('room', room), ...call }));
    const sorted = (calls: typeof told) => calls.toSorted((a, b) => (a.roomId < b.roomId ? -1 : 1));
    expect(sorted(told)).toEqual(sorted(kept as typeof told));
    expect(told.filter(({ won }) => won).length).toBeGreaterThan(5);
    expect(new Set(told.map(({ outcome }) => outcome)).size).toBeGreaterThan(1);
    expect(events.length).toBeGreaterThan(KILLS[1]!);
  } finally {
    await server.kill();
    await database.close();
    await drop();
    await rm(dataDir, { recursive: true });
  }
});
