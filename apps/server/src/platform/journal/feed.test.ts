import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { StreamFrame } from '../../foundation/http/handler.ts';
import { limiter } from '../../foundation/values/limiter.ts';
import { Feed } from './feed.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A feed of a resource at revision 1, whose events are its revisions. */
function feedOf({ apartMs = 0, lookMs = 0 } = {}) {
  const resource = { revision: 1, atRest: undefined as number | undefined, isGone: false };
  const looks: (number | undefined)[][] = [];
  const onEmpty = vi.fn();
  const frames = new Map<number, StreamFrame>();
  const frame = (id: number) => {
    const known = frames.get(id) ?? { id: String(id), event: 'e', data: {} };
    frames.set(id, known);
    return known;
  };
  const feed = new Feed({
    workspaceId: 'workspace',
    slots: limiter(4),
    apartMs,
    restMs: () => 1000,
    onEmpty,
    async look(seen) {
      looks.push([...seen]);
      if (lookMs > 0) await new Promise((resolve) => setTimeout(resolve, lookMs));
      if (resource.isGone) return undefined;
      const { revision, atRest } = resource;
      const since = (from: number) => Array.from({ length: revision - from }, (_, at) => frame(from + at + 1));
      return {
        frames: new Map([...seen].map((each) => [each, since(each ?? revision - 1)])),
        atRest,
        hasMore: false,
      };
    },
  });
  return { feed, resource, looks, onEmpty };
}

/** A client with so much room. */
function join(feed: Feed, seen?: number, room = Number.POSITIVE_INFINITY) {
  const got: StreamFrame[] = [];
  const end = vi.fn(() => sender.onEnd());
  const fail = vi.fn(() => sender.onEnd());
  const client = { got, end, fail, room, ids: () => got.map(({ id }) => Number(id)) };
  const stream = { send: (frame: StreamFrame) => got.push(frame) < client.room, end, fail };
  const sender = feed.join(stream, seen);
  return Object.assign(client, {
    leave: () => sender.onEnd(),
    makeRoom: (room: number) => {
      client.room = got.length + room;
      sender.onRoom();
    },
  });
}

const moment = () => vi.advanceTimersByTimeAsync(0);

test('all who follow are told by one look, the same frame, in order and once', async () => {
  const { feed, resource, looks } = feedOf();
  const [first, second] = [join(feed), join(feed)];
  await moment();
  resource.revision = 3;
  feed.hint();
  feed.hint();
  await moment();
  expect([first.ids(), second.ids()]).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  expect(first.got.every((frame, at) => frame === second.got[at])).toBe(true);
  const before = looks.length;
  const late = join(feed, 2);
  await moment();
  expect(late.ids()).toEqual([3]);
  expect(looks.slice(before)).toEqual([[2]]);
});

test('what happens while a look is under way is told by the next; without word a look comes by itself', async () => {
  const { feed, resource, looks } = feedOf();
  const client = join(feed);
  resource.revision = 2;
  feed.hint();
  await moment();
  expect(client.ids().at(-1)).toBe(2);
  resource.revision = 3;
  await vi.advanceTimersByTimeAsync(999);
  expect(client.ids().at(-1)).toBe(2);
  const before = looks.length;
  await vi.advanceTimersByTimeAsync(1);
  expect(client.ids().at(-1)).toBe(3);
  expect(looks.length).toBe(before + 1);
});

test('news are so far apart, and who joins meanwhile waits for nothing', async () => {
  const { feed, resource } = feedOf({ apartMs: 500 });
  const client = join(feed);
  await moment();
  resource.revision = 2;
  feed.hint();
  await vi.advanceTimersByTimeAsync(400);
  expect(client.ids()).toEqual([1]);
  const late = join(feed);
  await moment();
  expect([client.ids(), late.ids()]).toEqual([[1], [2]]);
  await vi.advanceTimersByTimeAsync(100);
  expect([client.ids(), late.ids()]).toEqual([[1, 2], [2]]);
});

test('who has no room gets the rest once there is some, and then what was missed; the others wait for nobody', async () => {
  const { feed, resource } = feedOf();
  resource.revision = 3;
  const [slow, quick] = [join(feed, 0, 1), join(feed, 0)];
  await moment();
  resource.revision = 5;
  feed.hint();
  await moment();
  expect([slow.ids(), quick.ids()]).toEqual([[1], [1, 2, 3, 4, 5]]);
  slow.makeRoom(1);
  expect(slow.ids()).toEqual([1, 2]);
  slow.makeRoom(10);
  await moment();
  expect(slow.ids()).toEqual([1, 2, 3, 4, 5]);
});

test('who has got the last event of a resource at rest is done; who named it waits', async () => {
  const { feed, resource, onEmpty } = feedOf();
  resource.atRest = 1;
  const [told, named, slow] = [join(feed), join(feed, 1), join(feed, 0, 1)];
  await moment();
  expect([told.end.mock.calls.length, named.end.mock.calls.length, slow.end.mock.calls.length]).toEqual([1, 0, 0]);
  slow.makeRoom(1);
  expect(slow.end).toHaveBeenCalledTimes(1);
  resource.atRest = 2;
  resource.revision = 2;
  feed.hint();
  await moment();
  expect([named.ids(), named.end.mock.calls.length]).toEqual([[2], 1]);
  expect(onEmpty).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('the streams of a resource that is gone end; a look that fails breaks off those that it was for', async () => {
  const { feed, resource } = feedOf();
  const client = join(feed);
  await moment();
  resource.isGone = true;
  feed.hint();
  await moment();
  expect(client.end).toHaveBeenCalledTimes(1);

  const failing = feedOf();
  const other = join(failing.feed);
  await moment();
  Object.defineProperty(failing.resource, 'isGone', {
    get: () => {
      throw new Error('away');
    },
  });
  failing.feed.hint();
  await moment();
  expect(other.fail).toHaveBeenCalledTimes(1);
});

test('who has gone is told nothing, and nobody is looked for', async () => {
  const { feed, resource, looks, onEmpty } = feedOf();
  const client = join(feed);
  await moment();
  resource.revision = 2;
  feed.hint();
  client.leave();
  await vi.advanceTimersByTimeAsync(5000);
  expect(client.ids()).toEqual([1]);
  expect(looks.length).toBeLessThanOrEqual(2);
  expect(onEmpty).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['word of it', true],
  ['no word of it', false],
])('those who join again and again keep no news from those who follow, with %s', async (_, hasWord) => {
  const { feed, resource } = feedOf({ apartMs: 500, lookMs: 100 });
  const first = join(feed);
  await vi.advanceTimersByTimeAsync(150);
  for (let at = 0; at < 100; at += 1) {
    resource.revision += 1;
    if (hasWord) feed.hint();
    join(feed);
    await vi.advanceTimersByTimeAsync(60);
  }
  // 6 s have passed: news are 500 ms apart, or looked for once a second.
  expect(resource.revision - first.ids().at(-1)!).toBeLessThan(30);
});

test('however many follow, some are told in a turn of the event loop; none twice, none who left, and who joined with the next', async () => {
  vi.useRealTimers();
  const { feed, resource } = feedOf({ lookMs: 1 });
  let told = 0;
  const all = Array.from({ length: 1000 }, () => join(feed, 1));
  const [first, last] = [all[0]!, all.at(-1)!];
  const late: ReturnType<typeof join>[] = [];
  for (const client of all) {
    const { push } = client.got;
    client.got.push = (frame) => {
      if (client === first && client.got.length === 0) {
        last.leave();
        late.push(join(feed));
        resource.revision = 3;
        feed.hint();
      }
      told += 1;
      return push.call(client.got, frame);
    };
  }
  resource.revision = 2;
  feed.hint();
  const steps: number[] = [];
  for (let before = 0; told < 2 * 999; before = told) {
    await new Promise((resolve) => setImmediate(resolve));
    steps.push(told - before);
  }
  // The last of one look and the first of the next may lie between two looks of ours.
  expect(Math.max(...steps)).toBeLessThanOrEqual(500);
  await vi.waitUntil(() => late[0]!.got.length > 0, { timeout: 60_000 });
  expect(all.slice(0, -1).every(({ got }) => got.map(({ id }) => id).join() === '2,3')).toBe(true);
  expect([last.ids(), late[0]!.ids()]).toEqual([[], [3]]);
  for (const client of [...all.slice(0, -1), ...late]) client.leave();
});
