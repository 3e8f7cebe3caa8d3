import { expect, test } from 'vitest';
import { PeerSource } from './peer-source.ts';

const described = { address: '198.51.100.7', port: 4000 };
const near = { address: '192.0.2.20', port: 5000 };
const stranger = { address: '203.0.113.9', port: 6000 };
const closed = { address: '10.0.0.9', port: 7000 };
const packet = { ssrc: 1, sequence: 0 };
const ranks = {
  isOpen: (address: string) => address !== closed.address,
  isNear: (address: string) => address.startsWith('192.0.2.'),
};

/** Described at 0, and answered then. */
function source(remote: typeof described | 'closed' = described, isAnswered = true) {
  const peer = new PeerSource(ranks);
  peer.expect(true, 0);
  peer.describe(remote === 'closed' ? undefined : remote, 0);
  if (isAnswered) peer.answer(0);
  return peer;
}

/** Packets of one source at a beat of 20 ms; tells how the last was judged. */
function speaks(peer: PeerSource, from: typeof stranger, at: number, count: number, ssrc = (_: number) => 1) {
  let last = '';
  for (let index = 0; index < count; index += 1)
    last = peer.hear(from, { ssrc: ssrc(index), sequence: index }, at + index * 20);
  return last;
}

test('nobody speaks before a description', () => {
  const peer = new PeerSource(ranks);
  for (const from of [described, near]) expect(peer.hear(from, packet, 5000)).toBe('refused');
  expect(peer.target).toBeUndefined();
});

test('it is spoken to where the description says, until something is heard', () => {
  expect(source().target).toEqual(described);
  expect(source().followed).toBeUndefined();
});

test.each([
  ['the described address, from any port', { ...described, port: 5555 }],
  ['an address beside the signalling', near],
])('%s is followed at once, also before the answer', (_, from) => {
  const peer = source(described, false);
  expect(peer.hear(from, packet, 1)).toBe('new');
  expect(peer.hear(from, packet, 2)).toBe('followed');
  expect(peer.target).toMatchObject(from);
  expect(peer.followsDescribed).toBe(from.address === described.address);
});

test('another source of the first rank is taken when the one before has stopped, and two do not take turns', () => {
  const peer = source();
  peer.hear(described, packet, 1000);
  for (const from of [{ ...described, port: 5555 }, near]) {
    expect(peer.hear(from, packet, 1099)).toBe('refused');
  }
  expect(peer.hear(near, packet, 1100)).toBe('new');
  expect(peer.hear({ ...near, port: 5001 }, packet, 1199)).toBe('refused');
});

test('the described address takes the call back from one beside the signalling at once, and keeps it', () => {
  const peer = source();
  peer.hear(near, packet, 1000);
  expect(peer.hear(described, packet, 1001)).toBe('new');
  expect(peer.hear(near, packet, 1002)).toBe('refused');
  expect(peer.target).toMatchObject(described);
});

test('a stranger is followed if nobody was heard in the two seconds after the answer, and if it is steady', () => {
  const peer = source();
  expect(speaks(peer, stranger, 0, 99)).toBe('refused');
  expect(speaks(peer, stranger, 2000, 4)).toBe('refused');
  expect(peer.hear(stranger, { ssrc: 1, sequence: 4 }, 2080)).toBe('new');
  expect(peer.target).toMatchObject(stranger);
  expect(peer.followsDescribed).toBe(false);
});

test('no stranger is followed before the answer, nor once somebody of the first rank was heard, however long ago', () => {
  expect(speaks(source(described, false), stranger, 5000, 50)).toBe('refused');
  const early = source(described, false);
  early.answer(5000);
  expect(speaks(early, stranger, 5000, 99)).toBe('refused');
  expect(speaks(early, stranger, 7000, 5)).toBe('new');
  for (const from of [described, near]) {
    const heard = source(described, false);
    heard.hear(from, packet, 10);
    heard.answer(20);
    expect(speaks(heard, stranger, 60_000, 50)).toBe('refused');
  }
  const reported = source();
  expect(reported.hearReport(described.address)).toBe(true);
  expect(speaks(reported, stranger, 60_000, 50)).toBe('refused');
});

test('no stranger is followed while the peer is not expected to speak, and two seconds after that at the earliest', () => {
  const peer = source();
  peer.expect(false, 1000);
  expect(speaks(peer, stranger, 60_000, 50)).toBe('refused');
  peer.expect(true, 70_000);
  expect(speaks(peer, stranger, 70_000, 99)).toBe('refused');
  expect(speaks(peer, stranger, 72_000, 5)).toBe('new');
});

test('the first rank takes the call back from a stranger with one packet, for good', () => {
  for (const from of [described, near]) {
    const peer = source();
    speaks(peer, stranger, 2000, 5);
    expect(peer.hear(from, packet, 2081)).toBe('new');
    expect(peer.hear(stranger, { ssrc: 1, sequence: 5 }, 2082)).toBe('refused');
    expect(speaks(peer, stranger, 60_000, 50)).toBe('refused');
  }
});

test('a stranger that is followed gives the call to no other stranger without a new description', () => {
  const peer = source();
  speaks(peer, stranger, 2000, 5);
  const other = { ...stranger, port: 6002 };
  expect(speaks(peer, other, 60_000, 50)).toBe('refused');
  expect(peer.describe({ ...described, port: 4002 }, 70_000)).toBe(true);
  expect(speaks(peer, other, 70_000, 99)).toBe('refused');
  expect(speaks(peer, other, 72_000, 5)).toBe('new');
});

test('a source whose SSRC or sequence jumps is not steady, nor are several that take turns', () => {
  expect(speaks(source(), stranger, 2000, 50, (index) => index)).toBe('refused');
  const peer = source();
  for (let at = 2000; at < 3000; at += 20)
    expect(peer.hear(stranger, { ssrc: 1, sequence: (at * 100) & 0xffff }, at)).toBe('refused');
  for (let index = 0; index < 50; index += 1)
    expect(peer.hear({ ...stranger, port: 6000 + (index % 2) }, { ssrc: 1, sequence: index }, 3000 + index)).toBe(
      'refused',
    );
});

test('an address that may not be sent to is never followed, also beside the signalling', () => {
  expect(speaks(source(), closed, 2000, 50)).toBe('refused');
  const peer = new PeerSource({ ...ranks, isNear: () => true });
  peer.expect(true, 0);
  peer.describe(described, 0);
  expect(speaks(peer, closed, 0, 50)).toBe('refused');
});

test('if the described address may not be sent to, nobody is, until somebody is heard', () => {
  const peer = source('closed');
  expect(peer.target).toBeUndefined();
  expect(peer.describe(undefined, 10)).toBe(false);
  expect(peer.hear(near, packet, 20)).toBe('new');
  expect(peer.target).toMatchObject(near);
  const behindNat = source('closed');
  expect(speaks(behindNat, stranger, 2000, 5)).toBe('new');
});

test('who was never heard is sent ten seconds, counted from the answer; what is on hold, or only receives, has no end', () => {
  const peer = source(described, false);
  expect([peer.mayBeSent(10_000), peer.mayBeSent(10_001)]).toEqual([true, false]);
  peer.answer(20_000);
  expect([peer.mayBeSent(30_000), peer.mayBeSent(30_001)]).toEqual([true, false]);
  peer.expect(false, 31_000);
  expect(peer.mayBeSent(90_000)).toBe(true);
  peer.expect(true, 100_000);
  expect(peer.mayBeSent(100_000)).toBe(false);
  expect(peer.hearReport(stranger.address)).toBe(false);
  expect(peer.mayBeSent(110_001)).toBe(false);
  expect(peer.hearReport(described.address)).toBe(true);
  expect(peer.mayBeSent(900_000)).toBe(true);
  const speaking = source();
  speaking.hear(described, packet, 100);
  expect(speaking.mayBeSent(900_000)).toBe(true);
});

test('neither a hold nor a new description gives who is never heard more than ten seconds', () => {
  const peer = source();
  for (let turn = 0; turn < 4; turn += 1) {
    const at = turn * 10_000;
    expect(peer.mayBeSent(at + 2500)).toBe(true);
    peer.describe({ ...described, port: 4002 + turn }, at + 1000);
    peer.expect(false, at + 2500);
    peer.expect(true, at + 10_000);
  }
  expect([peer.mayBeSent(40_000), peer.mayBeSent(40_001)]).toEqual([true, false]);
  expect(peer.describe(stranger, 41_000)).toBe(true);
  expect(peer.mayBeSent(41_001)).toBe(false);
  expect(peer.hear(stranger, packet, 41_002)).toBe('new');
  expect(peer.mayBeSent(900_000)).toBe(true);
  expect(peer.describe(described, 900_000)).toBe(true);
  expect([peer.mayBeSent(910_000), peer.mayBeSent(910_001)]).toEqual([true, false]);
});

test('a new description begins anew; the same one changes nothing', () => {
  const peer = source();
  peer.hear({ ...described, port: 5555 }, packet, 0);
  expect(peer.describe(described, 100)).toBe(false);
  expect(peer.target?.port).toBe(5555);
  expect(peer.describe(stranger, 200)).toBe(true);
  expect(peer.target).toEqual(stranger);
  expect(speaks(peer, described, 300, 30)).toBe('refused');
});
