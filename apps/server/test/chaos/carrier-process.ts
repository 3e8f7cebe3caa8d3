// A carrier over SIP in a process of its own, with callees and callers behind it. Each call that comes or goes, is answered
// and ends is a line. Its parent names who calls us, and where.

import { ULAW_SILENCE } from '@trunkline/media';
import { type IncomingCall, SdpSession } from '@trunkline/sip';
import { type Peer, startPeer } from '../lines/media/peer.ts';
import { startCarrier } from '../lines/telephony/carrier.ts';

/** A line of its record. */
export interface CarrierLine {
  event: 'ready' | 'invited' | 'calling' | 'answered' | 'ended';
  at: number;
  /** Where the carrier takes calls; of a call, where the server speaks SIP. */
  port?: number;
  callId?: string;
  to?: number;
  /** Who calls us. */
  from?: number;
  by?: 'local' | 'remote';
}

/** Somebody who is to call us. */
export interface Caller {
  from: number;
  to: string;
  /** Of a server. */
  host: string;
  port: number;
}

/** How long a caller lets it ring, in milliseconds. */
const LONGEST_RING_MS = 15_000;

const [host = '127.0.0.1'] = process.argv.slice(2);
const tell = (line: Omit<CarrierLine, 'at'>) =>
  process.stdout.write(`${JSON.stringify({ at: Date.now(), ...line })}\n`);
const later = (ms: number, run: () => void) => setTimeout(run, ms);

/** What a callee does hangs on the last digit: busy, declining, away, or talking for some seconds. */
function answerCall(call: IncomingCall, to: number, pickUp: () => Promise<Peer>): void {
  const { callId, source } = call;
  const digit = to % 10;
  tell({ event: 'invited', callId, to, port: source.port });
  void call.ended.then((end) => {
    tell({ event: 'ended', callId, to, ...(end.kind === 'hung_up' && { by: sideOf(end.by) }) });
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

/** A call to us: whoever takes it is talked to for some seconds, unless they hang up before. */
async function callServer({ from, to, host: far, port }: Caller): Promise<void> {
  const phone = await startPeer(9, host, far);
  const call = carrier.userAgent.invite({
    to: `sip:${to}@${far}:${port}`,
    from: `<sip:+${from}@${host}>`,
    targets: [{ address: far, port, transport: 'udp' }],
    sdp: new SdpSession({ address: host, port: phone.port, codecs: ['PCMU'] }).offer(),
    ringTimeoutMs: LONGEST_RING_MS,
    onAnswered: () => {
      tell({ event: 'answered', callId: call.callId });
      later(1000 + (from % 10) * 500, () => void call.hangUp());
    },
  });
  tell({ event: 'calling', callId: call.callId, from, port });
  const end = await call.ended;
  phone.close();
  tell({ event: 'ended', callId: call.callId, ...(end.kind === 'hung_up' && { by: sideOf(end.by) }) });
}

const sideOf = (by: string) => (by === 'remote' ? 'remote' : 'local');

const carrier = await startCarrier(
  (user) => (call, answer) => answerCall(call, Number(user.replace('+', '')), answer),
  {
    host,
  },
);
process.on('message', (caller) => void callServer(caller as Caller));
tell({ event: 'ready', port: carrier.port });
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
