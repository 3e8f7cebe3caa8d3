import { type SqlBool, sql } from 'kysely';
import type { Database, EngineTx } from '../foundation/database/database.ts';
import { answerPlace } from '../foundation/database/kept-answers.ts';
import { NUMBER_KEY_PLACE } from '../foundation/database/kept-number-key.ts';
import { createSecrets, type EncryptionKeys, type Secrets } from '../foundation/database/secrets.ts';
import { accountSecretPlace } from '../lines/providers/account.ts';
import { passwordPlace } from '../lines/trunks/trunk.ts';
import { secretPlace as webhookSecretPlace } from '../platform/webhooks/webhook.ts';
import { inboundSecretPlace } from '../platform/workspace/inbound-secret.ts';
import { secretPlace as agentSecretPlace, apiKeyPlace, headersPlace } from '../voices/agents/agent-row.ts';

const AT_ONCE = 500;

/** UUIDs. */
interface Key {
  workspace_id: string;
  id: string;
  password_of?: string | null;
}

/** A column that holds secrets, and the place of each, which it is bound to. */
interface SecretColumn {
  table: 'trunks' | 'provider_accounts' | 'agents' | 'webhooks' | 'workspaces' | 'idempotency_keys';
  column: string;
  /** The column with the row's UUID, if it isn't `id`. */
  id?: string;
  placeOf: (key: Key) => string;
}

/** All columns of workspaces that hold secrets. */
export const secretColumns: readonly SecretColumn[] = [
  { table: 'trunks', column: 'password', placeOf: passwordPlace },
  {
    table: 'provider_accounts',
    column: 'secret',
    placeOf: ({ workspace_id, id }) => accountSecretPlace(workspace_id, id),
  },
  { table: 'agents', column: 'secret', placeOf: ({ workspace_id, id }) => agentSecretPlace(workspace_id, id) },
  { table: 'agents', column: 'connection_headers', placeOf: ({ workspace_id, id }) => headersPlace(workspace_id, id) },
  { table: 'agents', column: 'api_key', placeOf: ({ workspace_id, id }) => apiKeyPlace(workspace_id, id) },
  { table: 'webhooks', column: 'secret', placeOf: ({ workspace_id, id }) => webhookSecretPlace(workspace_id, id) },
  {
    table: 'webhooks',
    column: 'previous_secret',
    placeOf: ({ workspace_id, id }) => webhookSecretPlace(workspace_id, id),
  },
  { table: 'workspaces', column: 'inbound_secret', placeOf: ({ id }) => inboundSecretPlace(id) },
  {
    table: 'idempotency_keys',
    column: 'answer',
    id: 'resource_id',
    placeOf: ({ workspace_id, id }) => answerPlace(workspace_id, id),
  },
];

/** How many secrets were encrypted anew, were under the current key already, and can be opened by neither. */
export interface Rotated {
  moved: number;
  current: number;
  /** What can't be opened, such as `trunks.password 0192…`, the first ten. */
  unreadable: string[];
  unreadableCount: number;
}

/**
 * Encrypts all secrets of the database under the current key that are under another one. It may be ended at any time, and
 * called again; servers may run meanwhile, if they have the current key.
 * @param isDryRun only counts
 */
export async function rotateKey(database: Database, keys: EncryptionKeys, isDryRun = false): Promise<Rotated> {
  const found: Rotated = { moved: 0, current: 0, unreadable: [], unreadableCount: 0 };
  const move = mover(keys, found);
  for (const { table, column, id = 'id', placeOf } of secretColumns) {
    const [tableRef, columnRef, idRef] = [sql.table(table), sql.ref(column), sql.ref(id)];
    const workspace = table === 'workspaces' ? sql.ref('id') : sql.ref('workspace_id');
    const also = table === 'trunks' ? sql`, password_of` : sql``;
    let last: Key | undefined;
    do {
      const rows = await database.inEngine(async ({ db }: EngineTx) => {
        const after = last
          ? sql<SqlBool>`(${workspace}, ${idRef}) > (${last.workspace_id}::uuid, ${last.id}::uuid)`
          : sql<SqlBool>`true`;
        const page = await sql<Key & { sealed: string }>`
          select ${workspace} as workspace_id, ${idRef} as id, ${columnRef} as sealed ${also} from ${tableRef}
          where ${columnRef} is not null and ${after} order by ${workspace}, ${idRef} limit ${AT_ONCE}`.execute(db);
        for (const row of page.rows) {
          const anew = move(row.sealed, placeOf(row), `${table}.${column} ${row.id}`);
          // What was changed meanwhile is under the current key.
          if (anew !== undefined && !isDryRun)
            await sql`update ${tableRef} set ${columnRef} = ${anew}
              where ${workspace} = ${row.workspace_id} and ${idRef} = ${row.id} and ${columnRef} = ${row.sealed}`.execute(
              db,
            );
        }
        return page.rows;
      });
      last = rows.length === AT_ONCE ? rows.at(-1) : undefined;
    } while (last);
  }
  await database.inEngine(async ({ db }) => {
    const { rows } = await sql<{ number_key: string | null }>`select number_key from installation`.execute(db);
    const sealed = rows[0]!.number_key;
    const anew = sealed === null ? undefined : move(sealed, NUMBER_KEY_PLACE, NUMBER_KEY_PLACE);
    if (anew !== undefined && !isDryRun)
      await sql`update installation set number_key = ${anew} where number_key = ${sealed}`.execute(db);
  });
  return found;
}

/** Answers a secret anew if it is under another key than the current one, and counts what it was. */
function mover(
  keys: EncryptionKeys,
  found: Rotated,
): (sealed: string, place: string, name: string) => string | undefined {
  const [current, all] = [createSecrets(keys[0]), createSecrets(...keys)];
  return (sealed, place, name) => {
    if (opened(current, sealed, place) !== undefined) {
      found.current += 1;
      return undefined;
    }
    const plain = opened(all, sealed, place);
    if (plain === undefined) {
      found.unreadableCount += 1;
      if (found.unreadable.length < 10) found.unreadable.push(name);
      return undefined;
    }
    found.moved += 1;
    return current.encrypt(plain, place);
  };
}

function opened(secrets: Secrets, sealed: string, place: string): string | undefined {
  try {
    return secrets.decrypt(sealed, place);
  } catch {
    return undefined;
  }
}
