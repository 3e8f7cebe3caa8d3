import { expect, test } from 'vitest';
import type { CallStore } from './call-store.ts';
import { KeptCall } from './kept-call.ts';

const call = { roomId: 'room', workspaceId: 'ws', attempt: 1 };
const ended = { roomId: 'room', at: new Date(0), type: 'ended', outcome: 'cancelled', endedBy: 'service' } as const;

test('the end of a call that is given up while it is being kept is kept after its beginning, and not before', async () => {
  const done: string[] = [];
  let begun!: () => void;
  const store = {
    begin: async () => {
      await new Promise<void>((resolve) => (begun = resolve));
      done.push('begun');
      return 'begun' as const;
    },
    end: async () => void done.push('ended'),
  } satisfies Partial<CallStore>;
  const clock = { now: () => new Date(0) };
  const kept = new KeptCall(
    { store: store as unknown as CallStore, clock, serverId: 's', isGivenUp: () => false },
    'room',
  );
  void kept.begin(call);
  const ending = kept.end(ended);
  await Promise.resolve();
  expect(done).toEqual([]);
  begun();
  await ending;
  expect(done).toEqual(['begun', 'ended']);
});
