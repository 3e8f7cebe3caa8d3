import { hash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { digestAsSent } from '../values/as-sent.ts';
import { type IdPrefix, toId } from '../values/ids.ts';
import { inChunks, MOST_AT_ONCE } from '../values/in-chunks.ts';
import { ServiceError } from '../values/service-error.ts';
import type { Database, WorkspaceTx } from './database.ts';
import type { Row } from './schema.ts';

/** A request that its client has named, so that it can be sent twice and carried out once. */
export interface NamedRequest {
  /** The operation's ID; a key belongs to one of them. */
  operation: string;
  key: string;
  /** What makes requests equal. */
  request: object;
  /** UUID of the resource that is made if this request is the first. */
  resourceId: string;
  now: Date;
}

/** What a request made; `replayed` where an equal one before it did. */
export interface Made<T> {
  made: T;
  replayed: boolean;
}

/**
 * Makes something once for an `Idempotency-Key`, in one transaction with it: a request that is refused frees its key.
 * Without a name it is made each time. Throws `idempotency_key_reused`, and what the two functions throw.
 *
 * @param make makes what has the UUID of the named request
 * @param again reads what an equal request has made, as it is now; throws `not_found` where it is gone
 */
export async function makeOnce<T>(
  tx: WorkspaceTx,
  named: NamedRequest | undefined,
  make: () => Promise<T>,
  again: (resourceId: string) => Promise<T>,
): Promise<Made<T>> {
  const id = named && (await takeIdempotencyKey(tx, named));
  if (id === undefined || id === named?.resourceId) return { made: await make(), replayed: false };
  return { made: await again(id), replayed: true };
}

/**
 * Takes an `Idempotency-Key`, waiting for a transaction that is just taking it. Returns the UUID of the resource that the
 * key stands for: this one's where it was free, else the first one's. Throws `idempotency_key_reused`.
 */
export async function takeIdempotencyKey(tx: WorkspaceTx, named: NamedRequest): Promise<string> {
  const [taken] = await takeIdempotencyKeys(tx, [named]);
  if (typeof taken === 'string') return taken;
  throw taken!;
}

/** A key that was taken, as it is read. */
export type KeyRow = Pick<
  Row<'idempotency_keys'>,
  'operation' | 'key' | 'fingerprint' | 'resource_id' | 'answer' | 'created_at'
>;

/**
 * Takes the keys of some requests for one operation, each key once. Answers for each request what `takeIdempotencyKey`
 * returns, or throws.
 */
export async function takeIdempotencyKeys(
  tx: WorkspaceTx,
  requests: readonly NamedRequest[],
): Promise<(string | ServiceError)[]> {
  const rows = requests.map(keyRow);
  const taken = await takingKeys(tx.workspaceId, rows).execute(tx.db);
  const isTaken = new Set(taken.rows.map((row) => row.key));
  const others = rows.filter(({ key }) => !isTaken.has(key));
  const winners = others.length > 0 ? await readKeys(tx, others) : new Map<string, KeyRow>();
  return requests.map(({ key, request, resourceId }) => {
    if (isTaken.has(key)) return resourceId;
    const winner = winners.get(key);
    // Given back in between: the caller's next try finds it free.
    return winner?.resource_id ? earlier(winner.resource_id, winner, request) : inProgress();
  });
}

/** A request as `takingKeys` wants it. */
export const keyRow = ({ operation, key, request, resourceId, now }: NamedRequest) => ({
  operation,
  key,
  fingerprint: fingerprintOf(request),
  resource_id: resourceId,
  created_at: now,
});

/** The statement that takes those of some keys that are free, and returns them. It may be part of another one. */
export function takingKeys(
  workspaceId: string,
  rows: readonly ReturnType<typeof keyRow>[],
): RawBuilder<{ key: string }> {
  // In one order, so that sets of requests that overlap wait for each other and don't deadlock.
  const sorted = rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return sql`
    insert into idempotency_keys (workspace_id, operation, key, fingerprint, resource_id, created_at)
    select ${workspaceId}, operation, key, fingerprint, resource_id, created_at
    from json_to_recordset(${JSON.stringify(sorted)}::json) as x (operation text, key text, fingerprint bytea,
      resource_id uuid, created_at timestamptz)
    on conflict do nothing returning key`;
}

/**
 * The UUID of the resource that a key stands for, if it was taken before. It takes nothing. Throws
 * `idempotency_key_reused`.
 */
export async function findIdempotencyKey(
  tx: WorkspaceTx,
  named: Pick<NamedRequest, 'operation' | 'key' | 'request'>,
): Promise<string | undefined> {
  const row = (await readKeys(tx, [named])).get(named.key);
  if (!row?.resource_id) return undefined;
  const found = earlier(row.resource_id, row, named.request);
  if (typeof found === 'string') return found;
  throw found;
}

/** What tells a request from others, whatever the order of its keys and the defaults of today. */
export const fingerprintOf = (request: object): string => `\\x${digestAsSent(request)}`;

/** As servers before 0.2.0 took it, whose keys are forgotten a day after the last of them has stopped. */
const oldFingerprintOf = (request: object): string => `\\x${hash('sha256', JSON.stringify(request))}`;

/** What a key that was taken before answers a request: the resource, if that was an equal one. */
function earlier(resourceId: string, row: KeyRow, request: object): string | ServiceError {
  const kept = `\\x${row.fingerprint.toString('hex')}`;
  if (kept === fingerprintOf(request) || kept === oldFingerprintOf(request)) return resourceId;
  return usedForAnother(row);
}

/** The refusal of a request whose key was taken for another one. */
export function usedForAnother({ operation, resource_id, created_at }: KeyRow): ServiceError {
  const [prefix, at] = [prefixes[operation], created_at.toISOString()];
  const made = prefix && resource_id ? `made ${toId(prefix, resource_id)}` : undefined;
  const which = made ? `, which ${made}` : '';
  const message = `This Idempotency-Key was used for another request, at ${at}${which}. Send a new key.`;
  return keyReused(message, `${made ?? 'was used'} at ${at}`);
}

/** An `idempotency_key_reused`, with what there is to say of the header. */
export const keyReused = (message: string, ofHeader: string) =>
  new ServiceError('idempotency_key_reused', message, {
    details: [{ path: '/headers/Idempotency-Key', message: ofHeader }],
  });

/** What the operations make that take a key, if it is one thing. */
const prefixes: Record<string, IdPrefix> = {
  buyPhoneNumber: 'pn',
  createAgent: 'agent',
  createApiKey: 'key',
  createCall: 'room',
  createCampaign: 'cmp',
  createContactList: 'list',
  createContactListUpload: 'upl',
  createErasure: 'ers',
  createExport: 'exp',
  createKnowledgeBase: 'kb',
  createNumberPool: 'pool',
  createTrunk: 'trk',
  createWebhook: 'whk',
  createWorkflow: 'wf',
  replayWebhookDelivery: 'dlv',
  sendCallDtmf: 'dtmf',
  startBatch: 'bat',
  startTestCall: 'room',
  transferCall: 'xfr',
  startWorkflowRun: 'run',
};

/** A second statement: the first one's snapshot may be older than the winner of a race. */
export async function readKeys(
  tx: WorkspaceTx,
  named: { operation: string; key: string }[],
): Promise<Map<string, KeyRow>> {
  const { rows } = await sql<KeyRow>`
    select operation, key, fingerprint, resource_id, answer, created_at from idempotency_keys
    where workspace_id = ${tx.workspaceId} and operation = ${named[0]!.operation}
      and key = any(${named.map(({ key }) => key)}::text[])`.execute(tx.db);
  return new Map(rows.map((row) => [row.key, row]));
}

/** Whether a request had this key before, equal or not. */
export const isKeyTaken = async (tx: WorkspaceTx, named: Pick<NamedRequest, 'operation' | 'key'>): Promise<boolean> =>
  (await readKeys(tx, [named])).size > 0;

/** Frees the key that stands for a resource, since nothing came of its request. */
export async function freeIdempotencyKey(tx: WorkspaceTx, operation: string, resourceId: string): Promise<void> {
  await tx.db
    .deleteFrom('idempotency_keys')
    .where('workspace_id', '=', tx.workspaceId)
    .where('operation', '=', operation)
    .where('resource_id', '=', resourceId)
    .execute();
}

/** Frees keys that were taken in this transaction for requests that were refused. */
export async function giveIdempotencyKeysBack(tx: WorkspaceTx, operation: string, keys: string[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    delete from idempotency_keys
    where workspace_id = ${tx.workspaceId} and operation = ${operation} and key = any(${keys}::text[])`.execute(tx.db);
}

const KEPT_MS = 24 * 3600 * 1000;

/** Forgets the keys that were taken more than 24 hours ago, in small transactions. Servers may do it at once. */
export async function deleteOldIdempotencyKeys(database: Database, now: Date, signal?: AbortSignal): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  await inChunks(async () => {
    const { numAffectedRows = 0n } = await database.inEngine((tx) =>
      sql`
        delete from idempotency_keys where ctid = any(array(select ctid from idempotency_keys
          where created_at < ${before} order by created_at limit ${sql.lit(MOST_AT_ONCE)} for update skip locked))`.execute(
        tx.db,
      ),
    );
    return Number(numAffectedRows) === MOST_AT_ONCE;
  }, signal);
}

/** The refusal of a request while an equal one is being carried out. */
export const inProgress = () =>
  new ServiceError(
    'idempotency_in_progress',
    'The request with this Idempotency-Key is still being carried out. Send it again in a moment.',
  );
