import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import { openNotifications } from '../../../src/foundation/database/notifications.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { freshDatabase } from '../../database.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { startTestServer } from '../../server.ts';
import { startServerProcess } from '../../server-process.ts';
import { until } from '../../until.ts';

const pgbouncer = '/usr/sbin/pgbouncer';

describe.skipIf(!existsSync(pgbouncer))('PgBouncer, which needs pgbouncer', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;

  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.drop());

  /** Puts a PgBouncer before the database. @returns the URL of the database behind it */
  async function poolerIn(mode: 'session' | 'transaction'): Promise<string> {
    const { hostname, port, username, pathname } = new URL(database.connection.connectionString);
    const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-pgbouncer-'));
    const listenPort = await freePort();
    const at = `host=${decodeURIComponent(hostname)} port=${port || 5432} user=${username} dbname=${pathname.slice(1)}`;
    const file = path.join(folder, 'pgbouncer.ini');
    await writeFile(
      file,
      `[databases]
there = ${at}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 60
`,
    );
    await chmod(folder, 0o755);
    // It refuses to run as root, and only PostgreSQL's own user may use its socket.
    const { uid, gid } = await stat(path.join(decodeURIComponent(hostname), `.s.PGSQL.${port || 5432}`));
    const child = spawn(pgbouncer, [file], { uid, gid, stdio: 'ignore' });
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    });
    const url = `postgresql://anybody@127.0.0.1:${listenPort}/there`;
    await until(async () => {
      const client = new pg.Client({ connectionString: url });
      const isThere = await client.connect().then(
        () => true,
        () => false,
      );
      await client.end();
      return isThere;
    });
    return url;
  }

  test('in session mode a server dials behind it, hears, and waits for no longer than else', async () => {
    const connectionString = await poolerIn('session');
    const server = await startTestServer({ connectionString, config: { simulatorSpeed: 100 } });
    onTestFinished(server.stop);
    const { rows } = await server.database.pool.query('show statement_timeout');
    expect(rows).toEqual([{ statement_timeout: '30s' }]);
    const workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
    await seedNumber(server.database, workspaceId, '+14155550100');
    const { campaignId } = await seedCampaign(server.database, { contacts: 3 });
    const answered = async () => {
      const { rows } = await server.database.inEngine(({ db }) =>
        sql<{ calls: number }>`select count(*) as calls from calls where campaign_id = ${campaignId}`.execute(db),
      );
      return rows[0]!.calls;
    };
    await until(async () => (await answered()) === 3);
    const notifications = openNotifications({ connection: { connectionString }, log: pino({ level: 'silent' }) });
    onTestFinished(notifications.close);
    const hear = vi.fn();
    notifications.subscribe(campaignId, hear);
    await until(() => {
      notifications.notify(campaignId);
      return hear.mock.calls.length > 0;
    });
  });

  test('in transaction mode it is refused, with the reason and the way', async () => {
    const start = startServerProcess({ DATABASE_URL: await poolerIn('transaction') });
    await expect(start).rejects.toThrow(/another session for each transaction.*pool_mode = session/);
  });
});
