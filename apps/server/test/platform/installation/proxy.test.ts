import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient, type TrunklineClient } from '@trunkline/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

const caddy = '/usr/bin/caddy';
const caddyfile = fileURLToPath(new URL('../../../../../deploy/Caddyfile', import.meta.url));

describe.skipIf(!existsSync(caddy))('the server behind the Caddyfile, which needs caddy', () => {
  let server: TestServer;
  let client: TrunklineClient;
  let publicUrl: string;
  let end: () => Promise<void>;

  beforeAll(async () => {
    publicUrl = `http://127.0.0.1:${await freePort()}`;
    const port = await freePort();
    server = await startTestServer({ config: { port, publicUrl, trustProxy: true } });
    const env = {
      PUBLIC_URL: publicUrl,
      PORT: String(port),
      XDG_DATA_HOME: server.dataDir,
      XDG_CONFIG_HOME: server.dataDir,
    };
    const child = spawn(caddy, ['run', '--config', caddyfile, '--adapter', 'caddyfile'], { env, stdio: 'ignore' });
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    end = () => {
      child.kill('SIGKILL');
      return ended;
    };
    await until(async () => (await fetch(`${publicUrl}/livez`)).ok);
    client = createClient({ baseUrl: publicUrl, apiKey: server.apiKey });
  });
  afterAll(async () => {
    await end();
    await server.stop();
  });

  test('a file goes up through it, and what happens to it comes back while the stream is open', async () => {
    const rows = Array.from({ length: 50_000 }, (_, i) => `+1415${2_000_000 + i},${'x'.repeat(40)}`);
    const file = ['phone,note', ...rows].join('\n');
    const { upload } = await client.contactLists.upload({ name: 'Many', file });
    expect(upload.metadata.validRows).toBe(50_000);
  });

  test('a stream that goes on passes on each event at once', async () => {
    const { list } = await client.contactLists.upload({ name: 'One', file: 'phone\n+14155550100\n' });
    await client.contactLists.confirm(list.id);
    const { items } = await client.phoneNumbers.searchAvailable({ provider: 'simulator', country: 'US' });
    const fromNumber = items[0]!.phoneNumber;
    await client.phoneNumbers.buy({ phoneNumber: fromNumber, provider: 'simulator' });
    const { id } = await client.campaigns.create({
      name: 'Silent',
      agentId: 'agent_hello',
      fromNumber,
      lists: [{ id: list.id, role: 'contacts' }],
    });
    for await (const { data } of client.campaigns.streamEvents(id)) {
      expect(data.campaign.id).toBe(id);
      break;
    }
  });

  test('the audit log has the address of the client, whatever it says itself', async () => {
    const headers = { 'X-API-Key': server.apiKey, 'X-Forwarded-For': '203.0.113.9' };
    const body = JSON.stringify({ name: 'Spoofed', fileName: 'spoofed.csv' });
    const made = await fetch(`${publicUrl}/v1/calls/contact-lists`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body,
    });
    expect(made.status).toBe(201);
    const { items } = await client.auditLog.list();
    expect(items[0]).toMatchObject({ action: 'contact_list.created', address: '127.0.0.1' });
  });

  test('strangers see no metrics', async () => {
    expect((await fetch(`${publicUrl}/metrics`)).status).toBe(404);
    expect((await fetch(`${publicUrl}/readyz`)).status).toBe(200);
  });
});
