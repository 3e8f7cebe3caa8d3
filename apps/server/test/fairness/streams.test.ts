import { expect, test } from 'vitest';
import { newUuid } from '../../src/foundation/values/ids.ts';
import { feedsOf } from '../../src/platform/journal/feeds.ts';
import { type Followed, follow } from '../../src/platform/journal/follow.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { readStream } from '../read-stream.ts';
import { seedWorkspace } from '../seed/workspace.ts';
import { until } from '../until.ts';

const STREAMS = 3000;
/** Followed by one stream each. */
const RESOURCES = 200;

test('three thousand streams of a resource read it once for all, and those of another workspace read at once', () =>
  withDatabase(async (database) => {
    const [noisy, quiet] = [await seedWorkspace(database), await seedWorkspace(database)];
    const listeners = new Set<() => void>();
    const notifications = {
      subscribe: (_topic: string, listener: () => void) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    };
    const revisions = new Map([
      [noisy, 1],
      [quiet, 1],
    ]);
    let reads = 0;
    const got = { noisy: 0, quiet: 0 };
    const open = async (workspaceId: string, id: string, onFrame: () => void) => {
      const followed: Followed<{ revision: number }> = {
        id,
        read: async () => {
          reads += 1;
          return { revision: revisions.get(workspaceId)! };
        },
        type: () => 'thing.changed',
        data: () => ({}),
        isFinal: () => false,
        snapshots: { apartMs: 1, type: 'thing.progress' },
      };
      const source = await follow({ database, notifications }, followed, { workspaceId, lastEventId: undefined });
      return readStream(source!, onFrame);
    };
    const id = newUuid();
    const streams = Array.from({ length: STREAMS }, () => open(noisy, id, () => (got.noisy += 1)));
    await until(() => expect(got.noisy).toBe(STREAMS));
    // Each asks whether there is such a resource, and then shares what is read with those that came meanwhile.
    expect(reads - STREAMS).toBeLessThan(STREAMS / 4);
    expect(feedsOf(database).restMs(noisy)).toBe(1000);
    let others = 0;
    streams.push(...Array.from({ length: RESOURCES }, () => open(noisy, newUuid(), () => (others += 1))));
    await until(() => expect(others).toBe(RESOURCES));
    expect([feedsOf(database).restMs(noisy), feedsOf(database).restMs(quiet)]).toEqual([2010, 1000]);
    const theirs = open(quiet, newUuid(), () => (got.quiet += 1));
    await until(() => expect(got.quiet).toBe(1));
    reads = 0;
    revisions.set(noisy, 2);
    for (const listener of listeners) listener();
    await until(() => expect([got.noisy, others]).toEqual([2 * STREAMS, 2 * RESOURCES]));
    // A look each, and those that came of themselves meanwhile.
    expect(reads).toBeLessThan(4 * RESOURCES);
    for (const stream of await Promise.all([...streams, theirs])) stream.end();
    expect(feedsOf(database).restMs(noisy)).toBe(1000);
    expect(listeners.size).toBe(0);
  }));
