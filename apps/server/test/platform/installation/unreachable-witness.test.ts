import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallNode } from '../../../src/dialing/workflows/definitions/definition.ts';
import { toId } from '../../../src/foundation/values/ids.ts';
import { freshDatabase } from '../../database.ts';
import { campaignRow } from '../../dialing/dialing.ts';
import { definitionOf, end } from '../../dialing/workflows/nodes.ts';
import { type RunServer, startRunServer } from '../../dialing/workflows/run-server.ts';
import { statementOn } from '../../foundation/database/statement-on.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { until } from '../../until.ts';

const FROM = '+12125550199';
const TO = '+12125550101';
let folder: string;
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let server: RunServer;
/** The server's file of today, on a disk that is full. */
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trunkline-witness-'));
  fresh = await freshDatabase();
  const { rows } = await statementOn(fresh.connection, 'select id from installation');
  file = path.join(folder, rows[0].id, `1-${new Date().toISOString().slice(0, 10)}.jsonl`);
  await mkdir(path.dirname(file));
  await symlink('/dev/full', file);
  const { connectionString } = fresh.connection;
  server = await startRunServer({ connectionString, config: { witnessPath: folder } });
});
afterAll(async () => {
  await server.stop();
  await fresh.drop();
  await rm(folder, { recursive: true });
});

test.skipIf(process.platform !== 'linux')(
  'while the witness can not be written nobody is called, all who wait say so, and then they are called, once',
  async () => {
    const { client, database, workspaceId } = server;
    const ready = async () => (await fetch(`${server.url}/readyz`)).text();
    expect(await ready()).toContain('the witness can not be written');
    const number = toId('pn', await seedNumber(database, workspaceId, FROM));
    const { campaignId } = await seedCampaign(database, { workspaceId, contacts: 3 });
    const params = { path: { id: toId('cmp', campaignId) } };
    await until(async () => {
      const { data } = await client.GET('/v1/calls/campaigns/{id}/contacts', { params });
      expect(data!.data.items.map(({ reason }) => reason)).toEqual(Array(3).fill('witness_unreachable'));
    });
    const filtered = await client.GET('/v1/calls/campaigns/{id}/contacts', {
      params: { ...params, query: { reason: 'witness_unreachable' } },
    });
    expect(filtered.data!.data.items).toHaveLength(3);
    const body = { agentId: 'agent', fromNumber: FROM, toNumber: TO };
    const { data: made } = await client.POST('/v1/calls', { params: { header: {} }, body });
    const call = async () =>
      (await client.GET('/v1/calls/{roomId}', { params: { path: { roomId: made!.roomId } } })).data!;
    await until(async () => expect(await call()).toMatchObject({ status: 'queued', reason: 'witness_unreachable' }));
    const ring: CallNode = {
      ...{ id: 'ring', type: 'call', title: 'Ring', agentId: 'agent' },
      fromNumber: FROM,
      to: '+12125550108',
      next: 'done',
    };
    const run = await server.begin(await server.publish(definitionOf([ring, end()])));
    expect(await server.comesTo(run, 'blocked')).toMatchObject({ error: { code: 'witness_unreachable' } });
    const tested = await client.POST('/v1/telephony/phone-numbers/{id}/test-call', {
      params: { path: { id: number } },
      body: { toNumber: TO },
    });
    expect(tested.error!.error).toContain('can not tell its witness');
    const placed = async () =>
      (
        await database.inEngine(({ db }) =>
          sql<{ placements: number }>`select placements from simulator_calls`.execute(db),
        )
      ).rows;
    expect(await placed()).toEqual([]);

    await rm(file);
    await until(async () => expect(await ready()).toBe('ok\n'));
    // The looks of those who wait stand some seconds further on.
    await until(async () => {
      server.clock.advance(5000);
      expect((await campaignRow(database, campaignId)).status).toBe('completed');
      expect((await call()).endedAt).toBeDefined();
      expect((await server.read(run)).status).toBe('completed');
    });
    expect((await placed()).every(({ placements }) => placements === 1)).toBe(true);
    expect(await placed()).toHaveLength(5);
  },
);
