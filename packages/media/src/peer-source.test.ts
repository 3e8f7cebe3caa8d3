import { expect, test } from 'vitest';
import { PeerSource } from './peer-source.ts';

const described = { address: '198.51.100.7', port: 4000 };
const other = { address: '203.0.113.9', port: 6000 };
const packet = { ssrc: 1, sequence: 0 };

function source() {
  const peer = new PeerSource((address) => address !== '10.0.0.9');
  peer.describe(described, 0);
  return peer;
}
/** Packets of one source at a beat of 20 ms; tells how the last was judged. */
function speaks(peer: PeerSource, from: typeof other, at: number, count: number, ssrc = (_: number) => 1) {
  let last = '';
  for (let index = 0; index < count; index += 1)
    last = peer.hear(from, { ssrc: ssrc(index), sequence: index }, at + index * 20);
  return last;
}

test('nobody speaks before a description', () => {
  const peer = new PeerSource(() => true);
  expect(peer.hear(described, packet, 5000)).toBe('refused');
  expect(peer.target).toBeUndefined();
});

test('it is spoken to where the description says, until something is heard', () => {
  expect(source().target).toEqual(described);
  expect(source().followed).toBeUndefined();
});

test('the described address is followed at once, from any port', () => {
  const peer = source();
  expect(peer.hear({ ...described, port: 5555 }, packet, 1)).toBe('new');
  expect(peer.hear({ ...described, port: 5555 }, packet, 2)).toBe('followed');
  expect(peer.target).toEqual({ ...described, port: 5555 });
});

test('a second port of it is taken when the first one has stopped, and two do not take turns', () => {
  const peer = source();
  peer.hear(described, packet, 1000);
  expect(peer.hear({ ...described, port: 5555 }, packet, 1099)).toBe('refused');
  expect(peer.hear({ ...described, port: 5555 }, packet, 1100)).toBe('new');
});

test('another address is followed after a second without the described one, if it is steady', () => {
  const peer = source();
  expect(speaks(peer, other, 0, 50)).toBe('refused');
  expect(speaks(peer, other, 1000, 4)).toBe('refused');
  expect(peer.hear(other, { ssrc: 1, sequence: 4 }, 1080)).toBe('new');
  expect(peer.target).toEqual(other);
});

test('what another address has said before counts for nothing once the followed one was heard, or described', () => {
  const begun = (peer: PeerSource) => speaks(peer, other, 2000, 4);
  const last = { ssrc: 1, sequence: 4 };
  const heard = source();
  expect(begun(heard)).toBe('refused');
  heard.hear(described, packet, 2070);
  expect(heard.hear(other, last, 3100)).toBe('refused');

  const interrupted = source();
  interrupted.hear(described, packet, 1000);
  begun(interrupted);
  interrupted.hear(other, last, 1990);
  expect(interrupted.hear(other, { ssrc: 1, sequence: 5 }, 3100)).toBe('refused');

  const moved = source();
  begun(moved);
  moved.describe({ address: '198.51.100.8', port: 4000 }, 2070);
  expect(moved.hear(other, last, 3100)).toBe('refused');
});

test('a second counts from the description, and from the last packet', () => {
  const moved = source();
  moved.describe({ ...described, port: 4002 }, 5000);
  expect(speaks(moved, other, 5000, 50)).toBe('refused');
  expect(speaks(moved, other, 6000, 5)).toBe('new');

  const followed = source();
  followed.hear({ ...described, port: 5555 }, packet, 5000);
  expect(speaks(followed, other, 5100, 44)).toBe('refused');
  expect([followed.isKnown(described.address), followed.isKnown(other.address)]).toEqual([true, false]);
  expect(speaks(followed, other, 6000, 5)).toBe('new');
  expect([followed.isKnown(described.address), followed.isKnown(other.address)]).toEqual([true, true]);
});

test('no other address is followed while one speaks', () => {
  const peer = source();
  for (let at = 0; at < 3000; at += 20) {
    peer.hear(described, packet, at);
    expect(peer.hear(other, { ssrc: 1, sequence: at / 20 }, at + 1)).toBe('refused');
  }
});

test('a source whose SSRC or sequence jumps is not steady, nor are several that take turns', () => {
  expect(speaks(source(), other, 2000, 50, (index) => index)).toBe('refused');
  const peer = source();
  for (let at = 2000; at < 3000; at += 20)
    expect(peer.hear(other, { ssrc: 1, sequence: (at * 100) & 0xffff }, at)).toBe('refused');
  for (let index = 0; index < 50; index += 1)
    expect(peer.hear({ ...other, port: 6000 + (index % 2) }, { ssrc: 1, sequence: index }, 3000 + index)).toBe(
      'refused',
    );
});

test('an address that may not be sent to is never followed', () => {
  expect(speaks(source(), { address: '10.0.0.9', port: 1 }, 2000, 50)).toBe('refused');
});

test('the described address comes back at once', () => {
  const peer = source();
  speaks(peer, other, 1000, 5);
  expect(peer.hear(described, packet, 1200)).toBe('new');
});

test('a new description begins anew; the same one changes nothing', () => {
  const peer = source();
  peer.hear({ ...described, port: 5555 }, packet, 0);
  expect(peer.describe(described, 100)).toBe(false);
  expect(peer.target?.port).toBe(5555);
  expect(peer.describe(other, 200)).toBe(true);
  expect(peer.target).toEqual(other);
  expect(speaks(peer, described, 300, 30)).toBe('refused');
});
