import { Client } from './client.ts';
import type { Connection } from './connection.ts';

const LONGEST_MS = 10_000;
const SETTING = 'trunkline.session';

/**
 * Why connections don't keep to one session of PostgreSQL each, as behind a pooler in transaction mode; nothing if they do.
 * There a setting that one connection makes is lost to it, or is seen by the next that asks.
 */
export async function sessionFault(connection: Connection): Promise<string | undefined> {
  const limits = { connectionTimeoutMillis: LONGEST_MS, query_timeout: LONGEST_MS, application_name: 'trunkline' };
  const clients = [0, 1].map(() => new Client({ ...connection, ...limits }).on('error', () => {}));
  const [one, other] = clients as [Client, Client];
  const read = async (client: Client) => {
    const { rows } = await client.query<{ value: string | null }>(
      `select current_setting('${SETTING}', true) as value`,
    );
    return rows[0]!.value;
  };
  try {
    for (const client of clients) await client.connect();
    await one.query(`select set_config('${SETTING}', 'one', false)`);
    if ((await read(other)) !== 'one' && (await read(one)) === 'one') return undefined;
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
  return 'DATABASE_URL leads through a pooler that gives a connection another session for each transaction: notifications, locks and settings are lost so. Have the pooler work in session mode (PgBouncer: pool_mode = session), or connect to PostgreSQL itself.';
}
