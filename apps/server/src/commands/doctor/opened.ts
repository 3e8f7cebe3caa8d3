import { randomBytes } from 'node:crypto';
import { type Logger, pino } from 'pino';
import type { Config } from '../../config.ts';
import { type Connection, changed } from '../../foundation/database/connection.ts';
import { type Database, openDatabase } from '../../foundation/database/database.ts';
import { findEmbeddedPostgres } from '../../foundation/database/postgres/embedded.ts';
import {
  createSecrets,
  type EncryptionKeys,
  findEncryptionKeys,
  type Secrets,
} from '../../foundation/database/secrets.ts';
import { type AddressGuard, createAddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import { type Finding, mend, note, ok, whyOf } from './finding.ts';

/** What the checks share. */
export interface Opened {
  /** Takes no writes from here. */
  database: Database;
  secrets: Secrets;
  /** Nothing before the first start. */
  keys: EncryptionKeys | undefined;
  guard: AddressGuard;
  trunkGuard: AddressGuard;
  log: Logger;
}

const ADVICE = 'Start PostgreSQL there, or set DATABASE_URL to one that runs and lets this role in.';
const none = { networks: [], hosts: [] };

/** Opens what the checks share, and tells of it; without a database the findings alone. */
export async function open(config: Config): Promise<{ opened?: Opened; findings: Finding[]; folders: string[] }> {
  const { keys, finding } = await keysOf(config);
  const place = await placeOf(config);
  const folders = place.data === undefined ? [] : [place.data];
  if (!place.connection) return { findings: [finding, place.finding], folders };
  const log = pino({ level: 'silent' });
  const database = openDatabase({ connection: readOnly(place.connection), poolSize: 2, log });
  try {
    await database.inEngine(async () => {});
  } catch (error) {
    await database.close();
    return { findings: [finding, mend('database', `It can not be used: ${whyOf(error)}. ${ADVICE}`)], folders };
  }
  return {
    opened: {
      ...{ database, log, keys },
      // Without a key nothing can be decrypted, which trunks and agents tell of themselves.
      secrets: createSecrets(...(keys ?? [randomBytes(32)])),
      guard: createAddressGuard(config.outboundAllowedAddresses ?? none),
      trunkGuard: createAddressGuard(config.sipAllowedAddresses ?? none),
    },
    findings: [finding],
    folders,
  };
}

async function keysOf(config: Config): Promise<{ keys?: EncryptionKeys; finding: Finding }> {
  const { encryptionKey, dataDir } = config;
  try {
    const keys = await findEncryptionKeys(config);
    if (keys) return { keys, finding: ok('key', `It is that of ${encryptionKey ? 'ENCRYPTION_KEY' : dataDir}.`) };
    const text =
      'There is none yet: the first start makes it in DATA_DIR. Several servers need the same ENCRYPTION_KEY.';
    return { finding: note('key', text) };
  } catch (error) {
    return { finding: mend('key', `It can not be read: ${whyOf(error)}. Restore the file from its backup.`) };
  }
}

/** Where the database is; nothing is made or started. */
async function placeOf({
  databaseUrl,
  dataDir,
}: Config): Promise<{ connection?: Connection; data?: string; finding: Finding }> {
  if (databaseUrl) return { connection: { connectionString: databaseUrl }, finding: ok('database', 'It is named.') };
  try {
    const found = await findEmbeddedPostgres(dataDir);
    if (found?.connection) return { ...found, finding: ok('database', 'The embedded one runs.') };
    if (found)
      return { ...found, finding: note('database', 'The embedded one does not run. Start the server, and ask again.') };
    return { finding: note('database', `There is none in ${dataDir} yet: the first start makes it. Then ask again.`) };
  } catch (error) {
    return { finding: mend('database', `The embedded one can not be used: ${whyOf(error)}.`) };
  }
}

/** A connection on which PostgreSQL itself refuses to change anything. */
const readOnly = (connection: Connection): Connection =>
  changed(connection, ({ searchParams }) => {
    const given = searchParams.get('options');
    searchParams.set('options', `${given ? `${given} ` : ''}-c default_transaction_read_only=on`);
  });
