import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@trunkline/client';
import { expect, test } from 'vitest';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { freshDatabase } from '../../database.ts';
import type { TestServer } from '../../server.ts';
import { startServerProcess } from '../../server-process.ts';
import { until } from '../../until.ts';
import { confirm, type Ids, validated } from './contact-files.ts';
import { manyRows } from './files/million-rows.ts';

/** Some 78 bytes a row. */
async function* contacts(rows: number) {
  let text = 'phone_number,name,timezone,first_name,appointment,reference\n';
  for (let i = 0; i < rows; i += 1) {
    text += `+1415${2_000_000 + i},Ana Ruiz ${i},,Ana${i % 1000},2026-12-01 10:30,a reference ${i % 77} of 77\n`;
    if (text.length < 256 * 1024) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

/** The most memory that the import may take on top of what the idle server has. */
const MOST_MB = 160;

/** The most memory that a process has had, in MB. */
async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / 1000;
}

test.skipIf(process.platform !== 'linux').each([1_000_000, 3_000_000])(
  'imports %i rows in bounded memory',
  { timeout: 300_000 },
  async (rows) => {
    const apiKey = newKey('test');
    const database = await freshDatabase();
    const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-million-'));
    const process = await startServerProcess({
      DATABASE_URL: database.connection.connectionString,
      DATA_DIR: dataDir,
      BOOTSTRAP_API_KEY: apiKey,
      UPLOAD_MAX_ROWS: '3000000',
      UPLOAD_MAX_BYTES: '1000000000',
    });
    try {
      const { url } = process;
      const server = { url, apiKey, client: createClient({ baseUrl: url, apiKey }) } as unknown as TestServer;
      const body = { name: 'Many', fileName: 'many.csv' };
      const list = (await server.client.POST('/v1/calls/contact-lists', { body })).data!;
      const ids: Ids = { id: list.id, uploadID: list.uploadDetails.id };
      const idle = await peakMemory(process.pid);
      const began = performance.now();
      const request = { method: 'PUT', headers: list.uploadHeaders, body: contacts(rows), duplex: 'half' };
      expect((await fetch(list.uploadUrl, request as unknown as RequestInit)).status).toBe(200);
      expect((await validated(server, ids)).metadata).toMatchObject({ totalRows: rows, validRows: rows });
      const validatedAt = performance.now();
      expect((await confirm(server, ids)).data!.totalEntries).toBe(rows);
      const ended = performance.now();
      const peak = await peakMemory(process.pid);
      console.log(
        `${rows} rows: ${Math.round((rows / (ended - began)) * 1000)} rows/s, ${Math.round(idle)} MB idle, ${Math.round(peak)} MB at most`,
      );
      expect(ended - validatedAt).toBeLessThan(1000);
      expect(peak - idle).toBeLessThan(MOST_MB);
    } finally {
      await process.kill();
      // PostgreSQL's own clean-up of the big table can't be ended by this role, but ends by itself.
      await until(
        () =>
          database
            .drop()
            .then(() => true)
            .catch(() => false),
        60_000,
      );
      await rm(dataDir, { recursive: true, force: true });
    }
  },
);

test.skipIf(process.platform !== 'linux')(
  'reads a workbook of a million rows, no text of them twice, in a server that takes 400 MB at most',
  { timeout: 300_000 },
  async () => {
    const apiKey = newKey('test');
    const database = await freshDatabase();
    const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-million-'));
    const process = await startServerProcess({
      DATABASE_URL: database.connection.connectionString,
      DATA_DIR: dataDir,
      BOOTSTRAP_API_KEY: apiKey,
    });
    try {
      const { url } = process;
      const server = { url, apiKey, client: createClient({ baseUrl: url, apiKey }) } as unknown as TestServer;
      const body = { name: 'Many', fileName: 'many.xlsx', defaultCountry: 'DE' };
      const list = (await server.client.POST('/v1/calls/contact-lists', { body })).data!;
      const ids: Ids = { id: list.id, uploadID: list.uploadDetails.id };
      const file = manyRows(1_000_000);
      const request = { method: 'PUT', headers: list.uploadHeaders, body: file, duplex: 'half' };
      expect((await fetch(list.uploadUrl, request as unknown as RequestInit)).status).toBe(200);
      expect((await validated(server, ids)).metadata).toMatchObject({ totalRows: 1_000_000, validRows: 1_000_000 });
      expect(await peakMemory(process.pid)).toBeLessThanOrEqual(400);
    } finally {
      await process.stop();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
);
