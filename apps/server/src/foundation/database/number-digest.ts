import { hash, hkdfSync } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';

const BLOCK_BYTES = 64;
const SHA256_BYTES = 32;
/** The longest text that is hashed: a UUID, a space, and the digits of a number. */
const MOST_TEXT = 64;

/**
 * The key under which erased phone numbers are kept, made from the server's encryption key: the two blocks that HMAC-SHA256
 * begins with, in hex, as connections of the database are given it. It stands in no table.
 */
export function numberKey(encryptionKey: Buffer): string {
  const key = Buffer.alloc(BLOCK_BYTES);
  Buffer.from(hkdfSync('sha256', encryptionKey, '', 'trunkline erased numbers', 32)).copy(key);
  return Buffer.concat([key.map((byte) => byte ^ 0x36), key.map((byte) => byte ^ 0x5c)]).toString('hex');
}

/** The setting of a connection that holds it. */
export const NUMBER_KEY = 'trunkline.number_key';

/**
 * SQL for the HMAC-SHA256 of a phone number of a workspace. It is null on a connection without the key.
 * @param number E.164 without the plus
 */
export function numberDigest(number: RawBuilder<unknown>, workspaceId: RawBuilder<unknown>): RawBuilder<Buffer> {
  const key = sql`decode(current_setting(${sql.lit(NUMBER_KEY)}, true), 'hex')`;
  const text = sql`convert_to((${workspaceId})::text || ' ' || (${number})::text, 'UTF8')`;
  return sql<Buffer>`sha256(substring(${key} from 65) || sha256(substring(${key} for 64) || ${text}))`;
}

/** SQL for the HMAC of no number, by which one key is told from another. */
export const numberCheck = numberDigest(sql`0`, sql`'00000000-0000-0000-0000-000000000000'`);

/**
 * What `numberDigest` makes, made here.
 * @param key as `numberKey` gives it
 * @returns for a number, E.164 without the plus, and a workspace: the HMAC in hex
 */
export function numberDigester(key: string): (number: string, workspaceId: string) => string {
  const blocks = Buffer.from(key, 'hex');
  // Both texts that are hashed are made in place, for it is done for each call.
  const inner = Buffer.concat([blocks.subarray(0, BLOCK_BYTES), Buffer.alloc(MOST_TEXT)]);
  const outer = Buffer.concat([blocks.subarray(BLOCK_BYTES), Buffer.alloc(SHA256_BYTES)]);
  return (number, workspaceId) => {
    const end = BLOCK_BYTES + inner.write(`${workspaceId} ${number}`, BLOCK_BYTES, 'latin1');
    outer.write(hash('sha256', inner.subarray(0, end), 'latin1'), BLOCK_BYTES, 'latin1');
    return hash('sha256', outer);
  };
}
