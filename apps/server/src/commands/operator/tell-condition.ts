import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import type { Warnings } from '../../foundation/http/outside.ts';
import { withDeadline } from '../../foundation/values/deadline.ts';
import { every } from '../../platform/jobs/every.ts';

const LOOK_MS = 2000;
/** At the end nobody waits longer for it. */
const LAST_MS = 1000;

/**
 * Has each server's row say what its `/readyz` does, so that whoever asks one of them hears of all. It is written when it
 * changes. @returns what ends it, once it has told that the server drains
 */
export function startTellingCondition(parts: {
  database: Database;
  lease: Pick<Lease, 'serverId'>;
  warnings: Warnings;
  draining: AbortSignal;
  log: Logger;
}): { close(): Promise<void> } {
  const { database, lease, draining } = parts;
  const textOf = (id: string, isDraining: boolean, lines: string[]) => JSON.stringify([id, isDraining, lines]);
  let told = textOf(lease.serverId(), false, []);
  const tell = async () => {
    const [id, isDraining, lines] = [lease.serverId(), draining.aborted, await parts.warnings()];
    const text = textOf(id, isDraining, lines);
    if (text === told) return;
    await database.inEngine(({ db }) =>
      sql`update servers set draining = ${isDraining}, warnings = ${lines}::text[],
          warned_at = case when ${lines.length > 0} then coalesce(warned_at, clock_timestamp()) end
        where id = ${id}`.execute(db),
    );
    told = text;
  };
  const loop = every(LOOK_MS, tell, { name: 'telling what this server warns of', log: parts.log });
  return {
    close: async () => {
      await loop.close();
      // Without the database nobody reads it.
      await withDeadline(LAST_MS, tell).catch(() => undefined);
    },
  };
}
