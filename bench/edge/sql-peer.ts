// Fastify with schemas, and the statements that Trunkline sends for the same request, over a pool of the same size.
import { fastify } from 'fastify';
import pg from 'pg';
import { columnTypes } from '../../apps/server/src/foundation/database/types.ts';
import { serve, settingsOf } from '../child.ts';
import { POOL_SIZE } from '../postgres.ts';
import { PATH, page } from './answers.ts';
import { keyCache } from './key.ts';
import { listSchema } from './schemas.ts';

export interface PeerSettings {
  key: string;
  connectionString: string;
  statements: { name?: string; text: string; values?: unknown[] }[];
}

interface DoNotCallRow {
  phone_number: number;
  reason: string | null;
  created_at: Date;
}

const { key, connectionString, statements } = settingsOf<PeerSettings>();
const pool = new pg.Pool({ connectionString, max: POOL_SIZE, types: columnTypes });
const authenticate = keyCache(key);

async function list() {
  const client = await pool.connect();
  try {
    const results: pg.QueryResult[] = [];
    for (const statement of statements) results.push(await client.query(statement));
    const rows = results.at(-2)!.rows as DoNotCallRow[];
    const items = rows.map((row) => ({
      phoneNumber: `+${row.phone_number}`,
      source: 'opt_out',
      ...(row.reason !== null && { reason: row.reason }),
      createdAt: row.created_at.toISOString(),
    }));
    return { ...page, items };
  } finally {
    client.release();
  }
}

const app = fastify();
app.addHook('onRequest', async (request, reply) => {
  if (!authenticate(String(request.headers['x-api-key']))) return reply.code(401).send({ code: 'unauthorized' });
});
app.get(PATH, { schema: listSchema }, list);
await app.ready();
await serve(app.server);
