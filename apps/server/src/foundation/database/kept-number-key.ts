import { sql } from 'kysely';
import type { Database } from './database.ts';
import { numberDigester, numberKey } from './number-digest.ts';
import { createSecrets, type EncryptionKeys, type Secrets } from './secrets.ts';

/** Where it stands, for `Secrets`. */
export const NUMBER_KEY_PLACE = 'installation.number_key';
const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * What erased numbers of this database are known by. It is made from the encryption key at the first start, and kept sealed:
 * a server whose encryption key is another one later, and that knows the one before, has the same.
 * @returns nothing if numbers were erased, and none of the keys opens what they are known by
 */
export function keptNumberKey(database: Database, keys: EncryptionKeys): Promise<string | undefined> {
  const secrets = createSecrets(...keys);
  return database.inEngine(async ({ db }) => {
    const { rows } = await sql<{ number_key: string | null; number_check: Buffer | null }>`
      select number_key, number_check from installation for update`.execute(db);
    const { number_key: sealed, number_check: check } = rows[0]!;
    const opened = sealed === null ? undefined : open(secrets, sealed);
    if (opened !== undefined) return opened;
    // Made anew by an old key it would be lost to the servers that have the new one.
    if (sealed !== null && check !== null) return undefined;
    const made = keys.map(numberKey);
    const fitting =
      check === null ? made[0] : made.find((each) => numberDigester(each)('0', NOBODY) === check.toString('hex'));
    if (fitting === undefined) return undefined;
    await sql`update installation set number_key = ${secrets.encrypt(fitting, NUMBER_KEY_PLACE)}`.execute(db);
    return fitting;
  });
}

function open(secrets: Secrets, sealed: string): string | undefined {
  try {
    return secrets.decrypt(sealed, NUMBER_KEY_PLACE);
  } catch {
    return undefined;
  }
}
