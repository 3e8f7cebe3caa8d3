import type { Peer } from '../media/peer.ts';

/** Presses a key, as telephones send it (RFC 4733). */
export function press(phone: Peer, digit: string): void {
  const event = '0123456789*#'.indexOf(digit);
  const packet = (isEnd: boolean, duration: number) =>
    Buffer.from([event, isEnd ? 0x8a : 0x0a, duration >> 8, duration & 0xff]);
  const timestamp = Math.floor(performance.now() * 8) >>> 0;
  phone.send(packet(false, 160), { payloadType: 101, marker: true, timestamp });
  for (let each = 0; each < 3; each += 1) phone.send(packet(true, 800), { payloadType: 101, timestamp });
}
