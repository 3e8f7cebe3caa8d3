/**
 * The advisory lock that a validation holds, in the very session that copies its rows: while it lives, no other process
 * validates the upload, and once it is gone, no row of it can still arrive. The upper half of the UUIDv7's random part.
 */
export function uploadLock(uploadId: string): string {
  return BigInt.asIntN(64, BigInt(`0x${uploadId.replaceAll('-', '').slice(16)}`)).toString();
}
