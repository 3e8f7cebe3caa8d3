import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * `X-Trunkline-Signature: t=<seconds since 1970>,v1=<hex>`: HMAC-SHA-256 with the agent's secret over `<t>.<call ID>`,
 * where the call ID is that of `X-Trunkline-Call-Id` and of `start.callSid`. So an agent knows that it is called by the
 * service, for this call, and just now.
 */
export function agentSignature(secret: string, callId: string, time: Date): string {
  const seconds = Math.floor(time.getTime() / 1000);
  return `t=${seconds},v1=${digest(secret, seconds, callId).toString('hex')}`;
}

/** The check that an agent makes. @param toleranceSeconds how far its clock may be off */
export function isAgentSignature(
  signature: string,
  secret: string,
  callId: string,
  now: Date,
  toleranceSeconds = 300,
): boolean {
  const [, seconds, hex] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (!seconds || Math.abs(now.getTime() / 1000 - Number(seconds)) > toleranceSeconds) return false;
  return timingSafeEqual(Buffer.from(hex!, 'hex'), digest(secret, Number(seconds), callId));
}

const digest = (secret: string, seconds: number, callId: string) =>
  createHmac('sha256', secret).update(`${seconds}.${callId}`).digest();
