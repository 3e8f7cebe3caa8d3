// A carrier over SIP in a process of its own, with callees behind it. Each call that comes, is answered and ends is a line.
import type { IncomingCall } from '@trunkline/sip';
import { ULAW_SILENCE } from '../../src/media/g711.ts';
import type { Peer } from '../media/peer.ts';
import { startCarrier } from '../telephony/carrier.ts';

/** A line of its record. */
export interface CarrierLine {
  event: 'ready' | 'invited' | 'answered' | 'ended';
  at: number;
  port?: number;
  callId?: string;
  to?: number;
  by?: 'local' | 'remote';
}

const [host = '127.0.0.1'] = process.argv.slice(2);
const tell = (line: Omit<CarrierLine, 'at'>) =>
  process.stdout.write(`${JSON.stringify({ at: Date.now(), ...line })}\n`);
const later = (ms: number, run: () => void) => setTimeout(run, ms);

/** What a callee does hangs on the last digit: busy, declining, away, or talking for some seconds. */
function answerCall(call: IncomingCall, to: number, pickUp: () => Promise<Peer>): void {
  const { callId } = call;
  const digit = to % 10;
  tell({ event: 'invited', callId, to });
  void call.ended.then((end) => {
    const by = end.kind === 'hung_up' ? { by: end.by === 'remote' ? ('remote' as const) : ('local' as const) } : {};
    tell({ event: 'ended', callId, to, ...by });
  });
  if (digit === 0) {
    call.reject(486);
    return;
  }
  call.ring();
  if (digit === 1) later(300, () => call.reject(603));
  if (digit === 2) later(5000, () => call.reject(480));
  if (digit <= 2) return;
  later(200 + digit * 100, async () => {
    const phone = await pickUp().catch((error) => console.error(`The phone of +${to} did not pick up:`, error));
    if (!phone) return;
    tell({ event: 'answered', callId, to });
    const speaking = setInterval(() => phone.send(Buffer.alloc(160, ULAW_SILENCE)), 200);
    const hangUp = later(1000 + digit * 700, () => void call.hangUp());
    void call.ended.then(() => {
      clearInterval(speaking);
      clearTimeout(hangUp);
      phone.close();
    });
  });
}

const carrier = await startCarrier(
  (user) => (call, answer) => answerCall(call, Number(user.replace('+', '')), answer),
  {
    host,
  },
);
tell({ event: 'ready', port: carrier.port });
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
