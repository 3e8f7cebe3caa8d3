import { sql } from 'kysely';
import type { Logger } from 'pino';
import { newUuid } from '../ids.ts';
import type { Database } from './database.ts';

/**
 * This process's place among the servers. What it claims bears its ID; when its lease ends, another server takes that
 * over. Time is the database's (engine.md, "Leases").
 */
export interface Lease {
  /** The ID that claims bear. A lease that was lost is taken anew under another ID. */
  serverId(): string;
  /** Whether the lease holds by this process's own clock: a process that was frozen sees here that it must not go on. */
  isHeld(): boolean;
  /** Ends the lease at once, at `-infinity`, so that others need not wait for it and know that nothing went wrong. */
  release(): Promise<void>;
}

/** Takes a lease of `seconds` and renews it thrice in that time until it is released. */
export async function openLease(options: { database: Database; seconds: number; log: Logger }): Promise<Lease> {
  const { database, seconds, log } = options;
  let id = newUuid();
  let heldUntil = 0;

  const take = async () => {
    const asked = performance.now();
    await database.inEngine(({ db }) =>
      sql`insert into servers (id, lease_until) values (${id}, clock_timestamp() + make_interval(secs => ${seconds}))`.execute(
        db,
      ),
    );
    heldUntil = asked + seconds * 1000;
  };
  const renew = async () => {
    const asked = performance.now();
    const { rows } = await database.inEngine(({ db }) =>
      sql`update servers set lease_until = clock_timestamp() + make_interval(secs => ${seconds})
          where id = ${id} and lease_until > clock_timestamp() returning id`.execute(db),
    );
    if (rows.length === 1) {
      heldUntil = asked + seconds * 1000;
      return;
    }
    log.warn({ serverId: id }, 'the lease of this server was lost; its calls go on elsewhere');
    id = newUuid();
    await take();
  };

  await take();
  let renewing: Promise<void> = Promise.resolve();
  const timer = setInterval(
    () => {
      renewing = renew().catch((error) => log.warn({ err: error }, 'the lease could not be renewed'));
    },
    (seconds * 1000) / 3,
  );
  timer.unref();

  return {
    serverId: () => id,
    isHeld: () => performance.now() < heldUntil,
    release: async () => {
      clearInterval(timer);
      await renewing;
      heldUntil = 0;
      await database.inEngine(({ db }) =>
        sql`update servers set lease_until = '-infinity' where id = ${id}`.execute(db),
      );
    },
  };
}
