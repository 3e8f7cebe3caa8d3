import { forkServer } from '../child.ts';
import type { Postgres } from '../postgres.ts';
import { carryOut, type System, type Turn } from './starts.ts';

/** DBOS in a process of its own: it starts runs itself, or takes them from a queue that this process fills. */
export async function startDbos(postgres: Postgres): Promise<{ DBOS: System; 'DBOS queue': System }> {
  const { connectionString } = await postgres.database();
  const app = await forkServer(new URL('./peers/dbos-app.ts', import.meta.url), { connectionString }, [
    '--no-deprecation',
  ]);
  const { openDbosClient } = await import('./peers/dbos-client.ts');
  const start = await openDbosClient(connectionString);
  const ended = () => app.ask<number>({});
  const pids = [app.pid, postgres.pid];
  return {
    DBOS: { carryOut: (order) => app.ask<Turn>(order), pids },
    'DBOS queue': { carryOut: (order) => carryOut(order, { start, ended }), pids },
  };
}
