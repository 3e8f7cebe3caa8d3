import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Fault } from './faults.ts';
import type { World } from './world.ts';

const between = (chance: () => number, from: number, to: number) => Math.round(from + chance() * (to - from));

/** So many times as long as PostgreSQL is away it is frozen: up to one and a half leases. */
const FREEZES_LONGER = 5;

let turn: Promise<unknown> = Promise.resolve();

/** A fault that has PostgreSQL to itself: those of its kind come one after another. */
export const inTurn = (fault: Fault): Fault => {
  return (...given) => {
    const mine = turn.then(() => fault(...given));
    turn = mine.catch(() => {});
    return mine;
  };
};

async function connect({ postgres }: World): Promise<pg.Client | undefined> {
  const client = new pg.Client(postgres.connection);
  client.on('error', () => {});
  const connected = client.connect().then(
    () => true,
    () => false,
  );
  return (await connected) ? client : undefined;
}

async function endBackends(world: World): Promise<void> {
  const client = await connect(world);
  await client
    ?.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = current_user',
    )
    .catch(() => {});
  await client?.end().catch(() => {});
}

/** Takes every connection that PostgreSQL has to give. */
async function takeAll(world: World): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  for (;;) {
    const more = await Promise.all(Array.from({ length: 20 }, () => connect(world)));
    taken.push(...more.filter((each) => each !== undefined));
    if (more.includes(undefined)) return taken;
  }
}

/** Holds rows that everybody needs, so that connections of servers wait, all of them. */
async function holdRows(world: World, table: string, ms: number): Promise<void> {
  const client = await connect(world);
  try {
    await client?.query("begin; set local trunkline.engine = 'on'");
    await client?.query(`select from ${table} for update`);
    await sleep(ms);
  } finally {
    await client?.end().catch(() => {});
  }
}

/** Freezes PostgreSQL for a while; it goes on whatever happens, since one that is frozen could not be ended either. */
async function freeze({ postgres }: World, ms: number, told: (what: string) => void): Promise<void> {
  told(`PostgreSQL is frozen for ${ms} ms`);
  try {
    await postgres.signal('SIGSTOP');
    await sleep(ms);
  } finally {
    await postgres.signal('SIGCONT');
  }
}

/** What happens to the database. */
export const databaseFaults = {
  postgres: inTurn(async (world, chance, told) => {
    const [how, ms] = [chance(), between(chance, 0, 1500)];
    if (how >= 0.7) return freeze(world, ms * FREEZES_LONGER, told);
    const crashes = how < 0.5;
    told(`PostgreSQL ${crashes ? 'is killed' : 'is stopped'}, and starts again after ${ms} ms`);
    await (crashes ? world.postgres.crash() : world.postgres.stop());
    await sleep(ms);
    await world.postgres.start();
  }),
  terminate: inTurn(async (world, chance, told) => {
    const times = between(chance, 1, 3);
    told(`all connections are ended by PostgreSQL, ${times} times`);
    for (let at = 0; at < times; at += 1) {
      await endBackends(world);
      await sleep(between(chance, 50, 500));
    }
  }),
  pools: inTurn(async (world, chance, told) => {
    const ms = between(chance, 1000, 4000);
    const table = ['campaigns', 'workspaces', 'servers', 'phone_numbers'][Math.floor(chance() * 4)]!;
    if (chance() < 0.5) {
      told(`the rows of ${table} are held for ${ms} ms, and who waits for them holds a connection`);
      return holdRows(world, table, ms);
    }
    told(`all connections of PostgreSQL are taken for ${ms} ms`);
    const first = await takeAll(world);
    await endBackendsOfServers(first[0]);
    const all = [...first, ...(await takeAll(world))];
    await sleep(ms);
    await Promise.all(all.map((client) => client.end().catch(() => {})));
  }),
} satisfies Record<string, Fault>;

const endBackendsOfServers = (client: pg.Client | undefined) =>
  client
    ?.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'trunkline'")
    .catch(() => {});
