import { expect, test } from 'vitest';
import { settle, TestClock } from '../test/test-clock.ts';
import { cachedResolver } from './cached-resolver.ts';
import { locate } from './locate.ts';
import { systemRandom } from './random.ts';
import type { DnsAnswer, Resolver } from './resolver.ts';
import { parseUri } from './uri.ts';

/** A resolver that answers when it is told to, and what it was asked. */
function slow() {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const it: Resolver = {
    srv: async () => ({ records: [], ttlSeconds: 60 }),
    addresses: (name, family) => {
      asked.push(`${family} ${name}`);
      return new Promise<DnsAnswer<string>>((resolve) => {
        answers.push(() => resolve({ records: ['192.0.2.1'], ttlSeconds: 120 }));
      });
    },
  };
  return { it, asked, answer: () => answers.shift()!() };
}

/** Lets everybody begin but `noisy`, whose questions wait. */
function turnsOf() {
  const waiting: (() => Promise<void>)[] = [];
  const turns = async (asker: string, ask: () => Promise<void>) => {
    if (asker === 'noisy') waiting.push(ask);
    else await ask();
  };
  return { turns, waiting };
}

test('answers are kept for as long as they hold, asked for once at a time, and refusals for some seconds', async () => {
  const asked: string[] = [];
  const it: Resolver = {
    srv: async () => ({ records: [], ttlSeconds: 60 }),
    async addresses(name) {
      asked.push(name);
      if (name === 'broken.example.com') throw Object.assign(new Error('broken'), { code: 'ESERVFAIL' });
      return { records: name === 'one.example.com' ? ['192.0.2.1'] : [], ttlSeconds: 120 };
    },
  };
  const clock = new TestClock();
  const cached = cachedResolver(it, clock);
  await Promise.all(['', 'other'].map((asker) => cached(asker).addresses('one.example.com', 4)));
  await clock.advance(119_000);
  await cached('').addresses('one.example.com', 4);
  expect(asked).toHaveLength(1);
  await clock.advance(2000);
  await cached('').addresses('one.example.com', 4);
  expect(asked).toHaveLength(2);
  await cached('').addresses('missing.example.com', 4);
  await clock.advance(31_000);
  await cached('').addresses('missing.example.com', 4);
  expect(asked).toHaveLength(4);
  for (let n = 0; n < 2; n += 1)
    await cached('')
      .addresses('broken.example.com', 4)
      .catch(() => {});
  expect(asked).toHaveLength(5);
  await clock.advance(5001);
  await expect(cached('').addresses('broken.example.com', 4)).rejects.toThrow();
  expect(asked).toHaveLength(6);
});

test('who waits for a turn holds up no other who has one for the same name, and hears what that was answered', async () => {
  const { it, asked, answer } = slow();
  const { turns, waiting } = turnsOf();
  const cached = cachedResolver(it, new TestClock(), turns);
  const first = cached('noisy').addresses('one.example', 4);
  const again = cached('noisy').addresses('one.example', 4);
  const quiet = cached('quiet').addresses('one.example', 4);
  expect([asked, waiting.length]).toEqual([['4 one.example'], 1]);
  // Its turn comes while the other's question is open, and is over with it.
  let isOver = false;
  const turn = waiting[0]!().then(() => {
    isOver = true;
  });
  await settle();
  expect(isOver).toBe(false);
  answer();
  await turn;
  for (const each of [first, again, quiet]) expect((await each).records).toEqual(['192.0.2.1']);
  // What is known takes no turn.
  await cached('noisy').addresses('one.example', 4);
  expect([asked, waiting.length]).toEqual([['4 one.example'], 1]);
});

test('a turn that does not come in time is given up, with words, and the name is not asked for any more', async () => {
  const { it, asked, answer } = slow();
  const { turns, waiting } = turnsOf();
  const clock = new TestClock();
  const cached = cachedResolver(it, clock, turns);
  const located = locate(parseUri('sip:one.example:5060'), undefined, cached('noisy'), systemRandom);
  const refused = expect(located).rejects.toMatchObject({
    name: 'TransportError',
    code: 'dns',
    message: 'one.example: Too many other names are being looked up.',
  });
  await clock.advance(4000);
  await refused;
  await Promise.all(waiting.splice(0).map((ask) => ask()));
  expect(asked).toEqual([]);
  // Nor does it stand in the way of the next.
  const next = cached('noisy').addresses('one.example', 4);
  const turn = waiting[0]!();
  answer();
  await turn;
  expect((await next).records).toEqual(['192.0.2.1']);
  expect(clock.waiting).toBe(0);
});
