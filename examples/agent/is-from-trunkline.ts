import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export function isFromTrunkline(headers: IncomingHttpHeaders, secret: string): boolean {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-trunkline-signature'])) ?? [];
  if (!t || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false;
  const expected = createHmac('sha256', secret).update(`${t}.${headers['x-trunkline-call-id']}`).digest();
  return timingSafeEqual(Buffer.from(v1!, 'hex'), expected);
}
