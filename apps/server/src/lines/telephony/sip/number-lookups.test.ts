import { parseMessage, type SipRequest, type Target } from '@trunkline/sip';
import { expect, test, vi } from 'vitest';
import { createNumberLookups } from './number-lookups.ts';

const from = (address: string): Target => ({ transport: 'udp', address, port: 5060 });
const callTo = (user: string) =>
  parseMessage(
    Buffer.from(
      `INVITE sip:${user}@us SIP/2.0\r\nTo: <sip:${user}@us>\r\nFrom: <sip:1@them>;tag=1\r\nVia: SIP/2.0/UDP them;branch=z9hG4bK1\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\n\r\n`,
    ),
  ) as SipRequest;

/** Look-ups that end when they are told to. */
function lookups(numbers: string[] = []) {
  const clock = { ms: 1000 };
  const asked: string[] = [];
  const open: (() => void)[] = [];
  const lines = createNumberLookups(
    async (request, source) => {
      const [, user = ''] = /:(\w+)@/.exec(request.uri)!;
      asked.push(`${source.address} ${user}`);
      await new Promise<void>((resolve) => open.push(resolve));
      const found = {
        to: user,
        workspaceId: 'ours',
        dtmf: 'rtp',
        mediaEncryption: 'none',
        keysInClear: false,
      } as const;
      return numbers.includes(user) ? { ...found, networks: [] } : undefined;
    },
    () => clock.ms,
  );
  /** Ends what is looked up, and what is then, until nothing is. */
  const endAll = async () => {
    for (let left = open.splice(0); left.length > 0; left = open.splice(0)) {
      for (const end of left) end();
      await new Promise(setImmediate);
    }
  };
  const read = (user: string, address = 'a', username?: string) => lines.read(callTo(user), from(address), username);
  return { clock, asked, read, endAll };
}

test('a number that nobody has is not looked up again for a moment, by its peer and its caller', async () => {
  const { clock, asked, read, endAll } = lookups(['7']);
  const one = async (...of: Parameters<typeof read>) => {
    const before = asked.length;
    const reading = read(...of);
    await Promise.race([reading, vi.waitUntil(() => asked.length > before)]);
    await endAll();
    return reading;
  };
  expect(await one('7')).toMatchObject({ to: '7', networks: [] });
  expect(await one('8')).toBe('unknown');
  expect(await one('8')).toBe('known_unknown');
  expect(await one('8', 'b')).toBe('unknown');
  expect(await one('8', 'a', 'anna')).toBe('unknown');
  expect(await one('7')).toMatchObject({ to: '7', networks: [] });
  clock.ms += 5000;
  expect(await one('8')).toBe('unknown');
  expect(asked).toEqual(['a 7', 'a 8', 'b 8', 'a 8', 'a 7', 'a 8']);
});

test('one peer takes one look-up at a time, and what waits is bounded', async () => {
  const { asked, read, endAll } = lookups();
  const flood = Array.from({ length: 300 }, (_, at) => read(`${at}`));
  const other = read('7', 'b');
  expect(asked).toEqual(['a 0', 'b 7']);
  await endAll();
  expect(await other).toBe('unknown');
  // What has come until a moment later is asked together.
  expect(asked).toHaveLength(2);
  await vi.waitUntil(() => asked.length > 2);
  expect(asked).toHaveLength(101);
  await endAll();
  const said = await Promise.all(flood);
  expect(said.filter((each) => each === 'full')).toHaveLength(200);
});

test('a peer whose numbers are all somebody’s waits for nothing but its look-ups', async () => {
  const { asked, read, endAll } = lookups(['7', '8', '9']);
  const calls = [read('7'), read('8'), read('9')];
  await endAll();
  expect(asked).toEqual(['a 7', 'a 8', 'a 9']);
  expect((await Promise.all(calls)).map((each) => typeof each)).toEqual(['object', 'object', 'object']);
});
