import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import type { Warnings } from '../../foundation/http/outside.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { withDeadline } from '../../foundation/values/deadline.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { standbyFault } from '../../platform/installation/standbys.ts';
import type { QueueAges } from '../../platform/metrics/queues.ts';
import { presentBrake, presentLease, presentQueue, presentServer } from './present.ts';
import { readBrakes } from './read-brakes.ts';
import { LONGEST_MS, readPart } from './read-part.ts';
import { readBackground, readDue } from './read-queues.ts';
import { readLeases, readServers } from './read-servers.ts';
import { warningsFrom } from './warn.ts';

export type OperatorStatus = components['schemas']['OperatorStatus'];
type Part = OperatorStatus['unread'][number];

/** What the status is read with. */
export interface StatusDeps {
  database: Database;
  lease: Pick<Lease, 'serverId' | 'isHeld'>;
  clock: Clock;
  log: Logger;
  queueAges: QueueAges;
  /** What the `/readyz` of this server says. */
  warnings: Warnings;
  /** Most calls that the operator lets a workspace place a day. */
  maxCallsPerDay: number | undefined;
}

/** Reads how all servers are: what the database does not tell in time is left out, and named. */
export async function readStatus({ database, lease, clock, log, ...deps }: StatusDeps): Promise<OperatorStatus> {
  const now = clock.now();
  const unread: Part[] = [];
  const attempt = <T>(part: Part, read: () => Promise<T>): Promise<T | undefined> =>
    read().catch((error) => {
      unread.push(part);
      log.warn({ err: error, part }, 'a part of the status could not be read');
      return undefined;
    });
  const read = <T>(part: Part, from: Parameters<typeof readPart<T>>[1]) =>
    attempt(part, () => readPart(database, from));
  // Three at a time, so that most connections are left to others.
  const [[servers, leases], [queues, ages], [braked, standby]] = await Promise.all([
    read('servers', readServers).then(async (found) => [found, await read('leases', readLeases)] as const),
    read('queues', async (tx) => [...(await readDue(tx, now)), ...(await readBackground(tx))]).then(
      async (found) => [found, await deps.queueAges()] as const,
    ),
    read('brakes', (tx) => readBrakes(tx, now, deps.maxCallsPerDay)).then(
      async (found) =>
        [found, await attempt('standbys', () => withDeadline(LONGEST_MS, () => standbyFault(database)))] as const,
    ),
  ]);
  if (ages === undefined && !unread.includes('queues')) unread.push('queues');
  const own = { id: lease.serverId(), lines: await deps.warnings(), mayPlace: lease.isHeld() };
  return {
    readAt: now.toISOString(),
    servers: (servers ?? []).map(presentServer),
    leases: (leases ?? []).map(presentLease),
    queues: (queues ?? []).map((queue) => presentQueue(queue, ages?.get(queue.name))),
    brakes: (braked?.brakes ?? []).map(presentBrake),
    hasMoreBrakes: braked?.hasMore ?? false,
    warnings: [...warningsFrom({ servers, ages, brakes: braked?.brakes, standby, own })],
    unread,
  };
}
