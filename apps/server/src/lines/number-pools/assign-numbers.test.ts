import { expect, test } from 'vitest';
import { assignNumbers, type Candidate, isBestPossible } from './assign-numbers.ts';

const candidate = (id: string, given: Partial<Candidate> = {}): Candidate => ({
  id,
  fromNumber: 14155550100,
  provider: 'simulator',
  trunkId: null,
  country: 'US',
  allowedCountries: [],
  room: Number.POSITIVE_INFINITY,
  lastUsed: 0,
  ...given,
});
const usedAt = (lastUsed: number) => ({ lastUsed });
const american = { toNumber: 12125550142, country: 'US' };
const german = { toNumber: 49301234567, country: 'DE' };
const ids = (assigned: (Candidate | undefined)[]) => assigned.map((each) => each?.id);

test('the least recently used goes first, and takes its turn again after all others', () => {
  const three = [candidate('c', usedAt(3)), candidate('a', usedAt(1)), candidate('b', usedAt(2))];
  expect(ids(assignNumbers(Array(5).fill(american), three))).toEqual(['a', 'b', 'c', 'a', 'b']);
});

test('a number has no more calls than it has room', () => {
  const two = [candidate('a', { room: 1 }), candidate('b', { room: 2, ...usedAt(1) })];
  expect(ids(assignNumbers(Array(5).fill(american), two))).toEqual(['a', 'b', 'b', undefined, undefined]);
});

test('a number of the callee’s country comes before the others, which come where there is none', () => {
  const two = [candidate('us'), candidate('de', { country: 'DE', room: 1, ...usedAt(9) })];
  expect(ids(assignNumbers([german, german, american], two))).toEqual(['de', 'us', 'us']);
  expect(ids(assignNumbers([{ ...american, country: undefined }], two))).toEqual(['us']);
});

test('a number calls only where it may', () => {
  const two = [
    candidate('us', { allowedCountries: ['US'] }),
    candidate('both', { allowedCountries: ['US', 'DE'], room: 1 }),
  ];
  expect(ids(assignNumbers([german, german, american], two))).toEqual(['both', undefined, 'us']);
  expect(ids(assignNumbers([{ ...american, country: undefined }], two))).toEqual([undefined]);
});

test('no number calls itself, another of the pool does', () => {
  const two = [candidate('a'), candidate('b', { fromNumber: 14155550101, ...usedAt(1) })];
  const callees = [14155550100, 14155550101, 14155550101].map((toNumber) => ({ ...american, toNumber }));
  expect(ids(assignNumbers(callees, two))).toEqual(['b', 'a', 'a']);
  expect(ids(assignNumbers(callees.slice(0, 1), [two[0]!]))).toEqual([undefined]);
});

test('a retry takes another number where there is one, if need be of another country', () => {
  const retry = { ...german, avoid: 'de' };
  const two = [candidate('us', usedAt(9)), candidate('de', { country: 'DE' })];
  expect(ids(assignNumbers([retry], two))).toEqual(['us']);
  expect(ids(assignNumbers([retry], [two[1]!]))).toEqual(['de']);
  const third = candidate('de2', { country: 'DE', ...usedAt(99) });
  expect(ids(assignNumbers([retry], [...two, third]))).toEqual(['de2']);
});

test('with one candidate more than callees no retry meets its last number', () => {
  const members = Array.from({ length: 4 }, (_, at) => candidate(String(at), { room: 1, ...usedAt(at) }));
  const retries = ['2', '1', '3'].map((avoid) => ({ ...american, avoid }));
  const assigned = assignNumbers(retries, members);
  expect(new Set(ids(assigned)).size).toBe(3);
  expect(assigned.every((each, at) => each!.id !== retries[at]!.avoid)).toBe(true);
  expect(isBestPossible(retries, assigned)).toBe(true);
});

test('an assignment is not the best possible while somebody could do better, or a number was taken twice', () => {
  const us = candidate('us');
  expect(isBestPossible([american], [us])).toBe(true);
  expect(isBestPossible([american], [undefined])).toBe(false);
  expect(isBestPossible([german], [us])).toBe(false);
  expect(isBestPossible([{ ...american, avoid: 'us' }], [us])).toBe(false);
  expect(isBestPossible([american, american], [us, us])).toBe(false);
});
