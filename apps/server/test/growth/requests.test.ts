import { Registry } from 'prom-client';
import { test } from 'vitest';
import { createBodyRoom } from '../../src/foundation/http/body-room.ts';
import { createOpenStreams } from '../../src/foundation/http/open-streams.ts';
import { createRateLimit } from '../../src/foundation/http/rate-limit.ts';
import { expectNoGrowth } from './cost-of-one.ts';

/** Ten that ask, beside others that are remembered. */
const asking = (item: number) => `key ${item % 10}`;

const who = (keyId: string) => ({ keyId, workspaceId: `workspace of ${keyId}` });

test('a request is counted at the same cost however many keys have sent one', () =>
  expectNoGrowth((others) => {
    // At a moment that stands no bucket fills again, and none is forgotten.
    const limit = createRateLimit({ key: 1_000_000_000, workspace: 1_000_000_000 }, () => 0);
    for (let key = 0; key < others; key += 1) limit(who(`key ${key}`), {});
    return (items) => {
      for (let item = 0; item < items; item += 1) limit(who(asking(item)), {});
    };
  }));

test('a body takes room at the same cost however many have', () =>
  expectNoGrowth((others) => {
    const room = createBodyRoom();
    const taker = (key: string) => ({ keyId: key, workspaceId: `workspace of ${key}`, room: 0 });
    for (let key = 0; key < others; key += 1) room.take(taker(`key ${key}`), 10);
    return (items) => {
      for (let item = 0; item < items; item += 1) {
        const body = taker(asking(item));
        room.take(body, 10);
        room.giveBack(body);
      }
    };
  }));

test('a stream is counted at the same cost however many are open', () =>
  expectNoGrowth((others) => {
    const streams = createOpenStreams(new Registry(), 100_000);
    const enter = (key: string) => streams.enter({ keyId: key, workspaceId: `workspace of ${key}` });
    for (let key = 0; key < others; key += 1) enter(`key ${key}`);
    return (items) => {
      for (let item = 0; item < items; item += 1) enter(asking(item))();
    };
  }));
