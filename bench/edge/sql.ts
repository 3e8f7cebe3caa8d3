import pg from 'pg';
import type { Database } from '../../apps/server/src/foundation/database/database.ts';
import { systemClock } from '../../apps/server/src/foundation/values/clock.ts';
import { createKey } from '../../apps/server/src/platform/api-keys/first-key.ts';
import { addOptOuts, listDoNotCall } from '../../apps/server/src/platform/do-not-call/store.ts';
import { forkServer, forkTrunkline } from '../child.ts';
import { load, requestText } from '../load.ts';
import { POOL_SIZE, startPostgres, temporaryFolder } from '../postgres.ts';
import { type Effort, inTurns, median } from '../rounds.ts';
import type { Found } from '../table.ts';
import { PATH, QUERY } from './answers.ts';
import type { PeerSettings } from './sql-peer.ts';

const SIZES = {
  whole: { rounds: 7, warmUp: 8000, requests: 4000 },
  quick: { rounds: 1, warmUp: 2000, requests: 2000 },
};
const NUMBERS = 50;

/** Requests a second with the key and SQL: a page of listDoNotCall, against Fastify with the same statements. */
export async function benchSql(effort: Effort): Promise<Found> {
  const { rounds, warmUp, requests } = SIZES[effort];
  const postgres = await startPostgres();
  const { database, connectionString } = await postgres.database();
  const key = await createKey(database, systemClock, { workspace: 'Default', name: 'bench', permissions: ['*'] });
  const [{ id: workspaceId } = { id: '' }] = await database.inEngine(({ db }) =>
    db.selectFrom('workspaces').select('id').execute(),
  );
  await database.inWorkspace(workspaceId, (tx) =>
    addOptOuts(
      tx,
      Array.from({ length: NUMBERS }, (_, i) => 14_155_550_000 + i),
      'Asked not to be called again',
      new Date(),
    ),
  );
  const environment = {
    DATABASE_URL: connectionString,
    DATA_DIR: await temporaryFolder(),
    POOL_SIZE: String(POOL_SIZE),
    RATE_LIMIT_PER_MINUTE: '10000000',
  };
  const peer: PeerSettings = { key, connectionString, statements: await statementsOf(database, workspaceId) };
  const children = {
    trunkline: await forkTrunkline(environment),
    fastify: await forkServer(new URL('./sql-peer.ts', import.meta.url), peer),
  };
  const request = requestText('GET', PATH + QUERY, { 'X-API-Key': key });
  const rates = await inTurns(['trunkline', 'fastify'], rounds, async (name, isWarmUp) => {
    const child = children[name];
    const times = isWarmUp ? warmUp : requests;
    const [before, from] = [await child.cpu(), performance.now()];
    await load(child.port, request, times);
    const rate = times / ((performance.now() - from) / 1000);
    return { rate, cpu: ((await child.cpu()) - before) / times };
  });
  const row = (what: string, figure: 'rate' | 'cpu', unit: string) => ({
    what: `GET with key and SQL, ${what}`,
    ours: median(rates.trunkline.map((each) => each[figure])),
    peer: 'Fastify, same SQL',
    theirs: median(rates.fastify.map((each) => each[figure])),
    unit,
  });
  return { rows: [{ ...row('requests', 'rate', '/s'), aim: '≥ 0.9' }, row('CPU a request', 'cpu', 'µs')] };
}

/** Listens to what Trunkline sends to PostgreSQL for one page, so that the peer sends just that. */
export async function statementsOf(database: Database, workspaceId: string): Promise<PeerSettings['statements']> {
  const sent: PeerSettings['statements'] = [];
  const query = pg.Client.prototype.query;
  const listen = function (
    this: pg.Client,
    statement: string | PeerSettings['statements'][number],
    values?: unknown[],
  ) {
    const { name, text } = typeof statement === 'string' ? { name: undefined, text: statement } : statement;
    sent.push({ ...(name !== undefined && { name }), text, ...(values && { values }) });
    return Reflect.apply(query, this, [statement, values]);
  };
  pg.Client.prototype.query = listen as never;
  try {
    // A statement gets its name when it comes a second time.
    for (let time = 0; time < 3; time += 1) {
      sent.length = 0;
      await database.inWorkspace(workspaceId, (tx) =>
        listDoNotCall(tx, { page: 1, perPage: 20, order: 'desc', searchText: undefined, includeTotal: false }),
      );
    }
  } finally {
    pg.Client.prototype.query = query;
  }
  return sent;
}
