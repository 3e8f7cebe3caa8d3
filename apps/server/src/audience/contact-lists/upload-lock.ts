/**
 * The advisory lock that a validation holds, in the very sessions that copy its rows: while one lives, no other
 * process validates the upload, and once they are gone, no row of it can still arrive. The upper half of the UUIDv7's
 * random part.
 */
export function uploadLock(uploadId: string): string {
  return BigInt.asIntN(64, BigInt(`0x${uploadId.replaceAll('-', '').slice(16)}`)).toString();
}
