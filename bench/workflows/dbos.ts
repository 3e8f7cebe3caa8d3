import { atEnd } from '../at-end.ts';
import { forkServer } from '../child.ts';
import { keepConnections } from '../connections.ts';
import { requestText } from '../load.ts';
import type { Postgres } from '../postgres.ts';
import { carryOut, type System, type Turn } from './starts.ts';

/**
 * DBOS in a process of its own: it starts runs itself, or when this process asks it to by HTTP, or takes them from a queue that
 * this process fills.
 */
export async function startDbos(postgres: Postgres): Promise<Record<'DBOS' | 'DBOS over HTTP' | 'DBOS queue', System>> {
  const { connectionString } = await postgres.database();
  const app = await forkServer(new URL('./peers/dbos-app.ts', import.meta.url), { connectionString }, [
    '--no-deprecation',
  ]);
  const { openDbosClient } = await import('./peers/dbos-client.ts');
  const enqueue = await openDbosClient(connectionString);
  const { send, close } = keepConnections(app.port);
  atEnd(async () => close());
  const ask = (key: string, steps: number) => send(requestText('POST', '/', {}, { key, steps }), 202);
  const ended = () => app.ask<number>({});
  const pids = [app.pid, postgres.pid];
  return {
    DBOS: { carryOut: (order) => app.ask<Turn>(order), pids },
    'DBOS over HTTP': { carryOut: (order) => carryOut(order, { start: ask, ended }), pids },
    'DBOS queue': { carryOut: (order) => carryOut(order, { start: enqueue, ended }), pids },
  };
}
