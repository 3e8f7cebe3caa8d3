import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { adviceForBrake, adviceForLine, adviceForQueue } from './advice.ts';
import type { BrakeRow } from './read-brakes.ts';
import type { ServerRow } from './read-servers.ts';

type Warning = components['schemas']['OperatorWarning'];

/** What a status is judged by; what could not be read is undefined. */
export interface Findings {
  servers: ServerRow[] | undefined;
  ages: ReadonlyMap<string, number> | undefined;
  brakes: BrakeRow[] | undefined;
  standby: string | undefined;
  /** Of the server that is asked: its ID, what it warns of now, and whether it may place calls. */
  own: { id: string; lines: string[]; mayPlace: boolean };
}

const ADVICE_FOR_LOST =
  'Look whether its process runs, and at the end of its log. Another server takes over what it held.';

function* ofServer(
  server: Pick<ServerRow, 'id' | 'status' | 'renewed_at' | 'warned_at' | 'warnings'>,
): Generator<Warning> {
  const serverId = toId('srv', server.id);
  const since = (at: Date | null) => (at ? { since: at.toISOString() } : {});
  if (server.status === 'lost')
    yield {
      text: 'A server was lost. It has not renewed its lease.',
      ...since(server.renewed_at),
      advice: ADVICE_FOR_LOST,
      serverId,
    };
  else if (server.status !== 'stopped')
    for (const line of server.warnings)
      yield { text: line, ...since(server.warned_at), advice: adviceForLine(line), serverId };
}

/** What is wrong, in words: of servers first, then of what waits, then of what is held back. */
export function* warningsFrom({ servers, ages, brakes, standby, own }: Findings): Generator<Warning> {
  if (!servers)
    yield {
      text: 'The database does not answer, or answers too slowly.',
      advice:
        'Start it, or look at the network to it, at its load, and in pg_stat_activity for a session that holds locks.',
    };
  else if (!servers.some(({ status }) => status === 'ready'))
    yield {
      text: 'No server may place calls: none that takes requests has a lease.',
      advice: 'Start one, and look at the log of those that ran.',
    };
  if (!own.mayPlace)
    yield {
      text: 'The server that was asked may place no calls: it could not renew its lease, or its clock is wrong.',
      advice: 'Look whether the database answers quickly, and whether the process was frozen.',
      serverId: toId('srv', own.id),
    };
  const unknown = { id: own.id, status: 'ready' as const, renewed_at: null, warned_at: null };
  const self = servers?.find(({ id }) => id === own.id) ?? unknown;
  yield* ofServer({ ...self, warnings: own.lines });
  for (const server of servers ?? []) if (server.id !== own.id) yield* ofServer(server);
  for (const [queue, seconds] of ages ?? []) {
    const found = adviceForQueue(queue, seconds);
    if (found) yield found;
  }
  for (const brake of brakes ?? []) {
    const found = adviceForBrake(brake);
    if (found) yield { ...found, ...(brake.since && { since: brake.since.toISOString() }) };
  }
  if (standby !== undefined) yield { text: standby, advice: 'See "The database" in docs/operations.md.' };
}
