import { onTestFinished } from 'vitest';
import { createUserAgent, type UserAgent, type UserAgentOptions } from '../src/index.ts';

/** Timers for tests over real sockets: a fiftieth of RFC 3261's, so that 64 × T1 is 640 ms. */
export const fastTimers = { t1: 10, t2: 80, t4: 100 };

/** A user agent on loopback that ends with its test. */
export async function startAgent(options: UserAgentOptions = {}): Promise<UserAgent> {
  const agent = await createUserAgent({ host: '127.0.0.1', port: 0, timers: fastTimers, ...options });
  onTestFinished(() => agent.stop(0));
  return agent;
}

export const sdpOffer =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 40000 RTP/AVP 0\r\n';
export const sdpAnswer = sdpOffer.replace('40000', '40002').replace('o=- 1', 'o=- 2');

/** Waits until something comes true. */
export async function until(holds: () => boolean, what = 'it', seconds = 120): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`Waited for too long until ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
