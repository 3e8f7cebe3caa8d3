import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createUserAgent, SdpSession } from '@trunkline/sip';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { freshDatabase } from '../../database.ts';
import { program } from '../../program.ts';
import { seedTrunk } from '../../seed/trunk.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { until } from '../../until.ts';

const main = await program('main');

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

/** What a server logs of a call that its trunk sends to a number that is none of its own. */
async function logged(environment: Record<string, string>): Promise<string> {
  const fresh = await freshDatabase();
  const database = openDatabase({ ...fresh, poolSize: 1, log: pino({ level: 'silent' }) });
  const workspace_id = await seedWorkspace(database);
  await seedTrunk(database, workspace_id, { termination_url: '127.0.0.1', probe: 'none' });
  // The server makes a second workspace.
  await database.inEngine(({ db }) =>
    db.insertInto('trunk_grants').values({ workspace_id, address: '127.0.0.1', created_at: new Date() }).execute(),
  );
  await database.close();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-logged-'));
  const port = await freeUdpPort();
  const sip = { SIP_HOST: '127.0.0.1', SIP_PORT: String(port), SIP_ALLOWED_ADDRESSES: '127.0.0.1' };
  const set = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    PORT: '0',
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'trace',
  };
  const server = spawn(process.execPath, [...main, 'serve'], {
    env: { ...set, ...sip, DATABASE_URL: fresh.connection.connectionString, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  server.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const trunk = await createUserAgent({ host: '127.0.0.1', port: 0, timers: { t1: 50 } });
  try {
    const target = { transport: 'udp' as const, address: '127.0.0.1', port };
    const sdp = new SdpSession({ address: '127.0.0.1', port: 9, codecs: ['PCMU'] }).offer();
    const call = { to: `sip:+14155550177@127.0.0.1:${port}`, from: '<sip:+14155550188@127.0.0.1>', targets: [target] };
    await until(async () => {
      await trunk.invite({ ...call, sdp, ringTimeoutMs: 500 }).ended;
      return log.includes('is refused');
    });
    return log;
  } finally {
    server.kill('SIGKILL');
    await once(server, 'close');
    await trunk.stop(0);
    await fresh.drop();
    await rm(dataDir, { recursive: true });
  }
}

test('the log of a server shows the last two digits of a number', async () => {
  const log = await logged({});
  expect(log).toMatch(/"uri":"sip:\+\*\*\*77@127/);
  expect(log).not.toMatch(/1415555/);
});

test('and all of it where the settings say so', async () => {
  expect(await logged({ LOG_PHONE_NUMBERS: 'full' })).toMatch(/"uri":"sip:\+14155550177@127/);
});
