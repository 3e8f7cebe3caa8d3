import { type CallEnd, Headers, type ProbeReport, type Rejected, type Target, TransportError } from '@trunkline/sip';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Trunk } from '../trunk.ts';
import { createTrunkTargets } from './trunk-targets.ts';

const log = pino({ level: 'silent' });
const trunk = { id: 'trunk', probe: 'options' } as Trunk;
const at = (host: number): Target => ({ transport: 'udp', address: `192.0.2.${host}`, port: 5060 });
const both = [at(1), at(2)];
const silence: CallEnd = { kind: 'silence', message: '', wasRinging: false };
const busy = (q850?: number, retryAfterSeconds?: number) =>
  ({
    ...{ kind: 'rejected', status: 503, phrase: '', reasons: [], q850, retryAfterSeconds },
    response: { headers: new Headers() },
  }) as unknown as Rejected;

/** Targets at a clock that is set. */
function stand(of: Trunk = trunk) {
  const clock = { ms: 0 };
  const targets = createTrunkTargets(log, () => clock.ms);
  return {
    clock,
    targets,
    /** The hosts that may be called, in their order. */
    hosts: (located = both) => targets.open(of, located).map(({ address }) => Number(address.split('.')[3])),
    sent: (roomId: string, host = 1) => targets.sent(of.id, roomId, at(host)),
    over: (roomId: string, end: CallEnd = silence) => targets.over(of.id, roomId, end),
    /** @returns the hosts that were asked */
    check: async (answers: Record<number, ProbeReport['reachability']>) => {
      const asked: number[] = [];
      await targets.check(async (_, { address }) => {
        const host = Number(address.split('.')[3]);
        asked.push(host);
        return answers[host] ?? 'reachable';
      });
      return asked;
    },
  };
}

test('a target with an INVITE that has no answer comes last after half a second, and gets none after two', () => {
  const { clock, hosts, sent, targets } = stand();
  expect(hosts()).toEqual([1, 2]);
  sent('room');
  const seen = [499, 500, 1999, 2000].map((ms) => {
    clock.ms = ms;
    return hosts();
  });
  expect(seen).toEqual([[1, 2], [2, 1], [2, 1], [2]]);
  targets.answered('trunk', 'room');
  expect(hosts()).toEqual([1, 2]);
});

test('each trunk is judged apart', () => {
  const { clock, hosts, sent, targets } = stand();
  hosts();
  sent('room');
  clock.ms = 3000;
  expect([hosts(), targets.open({ ...trunk, id: 'other' }, both)]).toEqual([[2], both]);
});

test('an INVITE that goes on to another target is waited for there', () => {
  const { clock, hosts, sent, targets } = stand();
  hosts();
  sent('room');
  targets.passedOn('trunk', 'room', at(1), new TransportError('refused', ''));
  sent('room', 2);
  clock.ms = 2000;
  expect(hosts()).toEqual([1]);
});

test('one that left an INVITE silent till its end gets none until it answers, or for ten minutes', async () => {
  const { clock, hosts, sent, over, check } = stand();
  hosts();
  sent('room');
  over('room');
  clock.ms = 599_999;
  expect(hosts()).toEqual([2]);
  expect(await check({ 1: 'timeout' })).toEqual([1, 2]);
  expect(hosts()).toEqual([2]);
  clock.ms = 600_000;
  expect(hosts()).toEqual([1, 2]);
  sent('again');
  over('again');
  expect(hosts()).toEqual([2]);
  await check({});
  expect(hosts()).toEqual([1, 2]);
});

test('one that has answered OPTIONS before and does no more is silent, for however long; one that never did is not', async () => {
  const { clock, hosts, check } = stand();
  hosts();
  await check({ 1: 'reachable', 2: 'timeout' });
  expect(hosts()).toEqual([1, 2]);
  await check({ 1: 'timeout', 2: 'timeout' });
  for (let minute = 0; minute < 60; minute += 1) {
    clock.ms += 60_000;
    expect(hosts()).toEqual([2]);
  }
});

test('if all are silent, one call at a time finds out whether the first speaks again', () => {
  const { clock, hosts, sent, over, targets } = stand();
  hosts();
  for (const host of [2, 1]) {
    sent(`room ${host}`, host);
    clock.ms += 1;
  }
  clock.ms = 3000;
  expect(hosts()).toEqual([]);
  over('room 2');
  clock.ms = 3001;
  over('room 1');
  expect(hosts()).toEqual([2]);
  sent('next', 2);
  expect(hosts()).toEqual([1]);
  sent('other', 1);
  expect(hosts()).toEqual([]);
  targets.answered('trunk', 'next');
  expect(hosts()).toEqual([2]);
});

test('one that was not reached comes last for a minute, or until it answers OPTIONS', async () => {
  const { clock, hosts, check, targets } = stand();
  hosts();
  targets.passedOn('trunk', 'room', at(1), new TransportError('refused', ''));
  expect(hosts()).toEqual([2, 1]);
  clock.ms = 60_000;
  expect(hosts()).toEqual([1, 2]);
  await check({ 1: 'refused' });
  expect(hosts()).toEqual([2, 1]);
  await check({});
  expect(hosts()).toEqual([1, 2]);
});

test.each([
  ['for a minute', undefined, 60_000],
  ['as long as it asks', 7, 7000],
  ['five minutes at most', 4000, 300_000],
])('one that is out of service comes last: %s', async (_, seconds, ms) => {
  const { clock, hosts, sent, over, check } = stand();
  hosts();
  sent('room');
  over('room', busy(undefined, seconds));
  clock.ms = ms - 1;
  await check({});
  expect(hosts()).toEqual([2, 1]);
  clock.ms = ms;
  expect(hosts()).toEqual([1, 2]);
});

test('a 503 whose cause tells of the callee says nothing of its target', () => {
  const { hosts, sent, over } = stand();
  hosts();
  sent('room');
  over('room', busy(1));
  expect(hosts()).toEqual([1, 2]);
});

test('OPTIONS go to trunks of several targets, and to one that is silent; not against its settings, nor when it is not used', async () => {
  const { clock, hosts, sent, over, check } = stand();
  hosts([at(1)]);
  expect(await check({})).toEqual([]);
  sent('room');
  over('room');
  expect(await check({ 1: 'timeout' })).toEqual([1]);
  hosts();
  clock.ms = 600_000;
  expect([await check({}), await check({})]).toEqual([[], []]);
  const unasked = stand({ ...trunk, probe: 'none' });
  unasked.hosts();
  expect(await unasked.check({})).toEqual([]);
});
