import { onTestFinished, test } from 'vitest';
import { createFeeds } from '../../src/platform/journal/feeds.ts';
import { expectNoGrowth } from './cost-of-one.ts';

test('an event costs the same however many streams follow other resources', () =>
  expectNoGrowth((others) => {
    const feeds = createFeeds();
    let revision = 1;
    let sent = () => {};
    /** Follows a resource that changes at each hint. @returns the hint */
    const follow = (id: string) => {
      let hint = () => {};
      const look = async (seen: ReadonlySet<number | undefined>) => {
        revision += 1;
        const frame = { id: `${revision}`, event: 'changed', data: {} };
        return { frames: new Map([...seen].map((each) => [each, [frame]])), atRest: undefined, hasMore: false };
      };
      const subscribe = (onHint: () => void) => {
        hint = onHint;
        return () => {};
      };
      const send = () => {
        sent();
        return true;
      };
      const stream = { send, end: () => {}, fail: () => {} };
      const sender = feeds.of('workspace', id, { terms: { look, apartMs: 0 }, subscribe }).join(stream, 1);
      onTestFinished(() => sender.onEnd());
      return () => hint();
    };
    for (let id = 0; id < others; id += 1) follow(`resource ${id}`);
    const happens = follow('ours');
    return async (items) => {
      for (let item = 0; item < items; item += 1) {
        const isSent = new Promise<void>((resolve) => (sent = resolve));
        happens();
        await isSent;
      }
    };
  }));
