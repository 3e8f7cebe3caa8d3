import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a signed URL allows, until when. All of it is in the URL, and none of it can be changed. */
export type Grant =
  | { method: 'PUT'; key: string; expires: number; contentType: string; maxBytes: number }
  | { method: 'GET'; key: string; expires: number; contentType: string; fileName: string };

const extraOf = (grant: Grant): string => (grant.method === 'PUT' ? String(grant.maxBytes) : grant.fileName);

function sign(secret: string, grant: Grant): Buffer {
  const parts = [grant.method, grant.key, String(grant.expires), grant.contentType, extraOf(grant)];
  return createHmac('sha256', secret)
    .update(`trunkline object\n${JSON.stringify(parts)}`)
    .digest();
}

/** The query that grants it, beginning with `?`. `expires` is in seconds since 1970. */
export function grantQuery(secret: string, grant: Grant): string {
  const query = new URLSearchParams({
    expires: String(grant.expires),
    contentType: grant.contentType,
    ...(grant.method === 'PUT' ? { maxBytes: String(grant.maxBytes) } : { fileName: grant.fileName }),
    signature: sign(secret, grant).toString('base64url'),
  });
  return `?${query}`;
}

/**
 * Reads the grant out of a signed URL.
 * @param secrets any of which may have signed it
 * @param now the current time
 * @returns nothing when the signature is wrong or the time is over
 */
export function readGrant(
  secrets: readonly string[],
  method: 'PUT' | 'GET',
  key: string,
  query: URLSearchParams,
  now: Date,
): Grant | undefined {
  const text = (name: string) => query.get(name) ?? '';
  const common = { key, expires: Number(text('expires')), contentType: text('contentType') };
  const grant: Grant =
    method === 'PUT'
      ? { method, ...common, maxBytes: Number(text('maxBytes')) }
      : { method, ...common, fileName: text('fileName') };
  // As text: behind a right signature could else stand what base64 passes over, and behind that whatever one likes.
  const given = Buffer.from(String(query));
  const isRight = secrets.some((secret) => {
    const right = Buffer.from(grantQuery(secret, grant).slice(1));
    return given.length === right.length && timingSafeEqual(given, right);
  });
  if (!isRight) return undefined;
  return now.getTime() < grant.expires * 1000 ? grant : undefined;
}
