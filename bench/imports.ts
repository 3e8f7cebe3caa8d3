import { openAsBlob } from 'node:fs';
import { createClient } from '@trunkline/client';
import { newKey } from '../apps/server/src/platform/api-keys/key.ts';
import { contactFile } from './import-file.ts';
import { POOL_SIZE, startPostgres } from './postgres.ts';

const ROWS = 1_000_000;

/** What is imported while something else is measured: a file, by a whole server with this environment. */
export interface Imports {
  file: string;
  connectionString: string;
  apiKey: string;
  environment: Record<string, string>;
}

/** Makes the file, and a database for it: the server's own, whose processes it may hold back. */
export async function openImports(): Promise<Imports> {
  const { dataDir, connectionString } = await startPostgres();
  const { file } = await contactFile(ROWS);
  const apiKey = newKey('bench');
  const environment = {
    ...{ HOST: '127.0.0.1', PORT: '0', BOOTSTRAP_API_KEY: apiKey },
    ...{ DATA_DIR: dataDir, POOL_SIZE: String(POOL_SIZE) },
    ...{ UPLOAD_MAX_ROWS: String(ROWS), UPLOAD_MAX_BYTES: '1000000000' },
  };
  return { file, connectionString, apiKey, environment };
}

/** Imports a file again and again, for as long as it is asked to. @returns how many rows were imported */
export async function importWhile(port: number, { file, apiKey }: Imports, goesOn: () => boolean): Promise<number> {
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey });
  let rows = 0;
  const blob = await openAsBlob(file);
  while (goesOn()) {
    const { list } = await client.contactLists.upload({ name: 'Spring', file: blob });
    rows += (await client.contactLists.confirm(list.id)).totalEntries;
  }
  return rows;
}
