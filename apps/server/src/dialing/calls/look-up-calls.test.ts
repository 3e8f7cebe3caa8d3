import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { CallEvent, CallGateway, CallState } from '../../lines/telephony/call-gateway.ts';
import type { HeldCall } from './call.ts';
import { createDoubtfulCalls } from './look-up-calls.ts';

test('the calls of one workspace whose providers are silent leave places for those of another', async () => {
  const now = new Date();
  const room = (at: number) => `silent_${at}`;
  const calls = Array.from({ length: 500 }, (_, at) => ({ roomId: room(at), workspaceId: 'noisy' }));
  const held = [...calls, { roomId: 'other', workspaceId: 'quiet' }].map(
    (each) => ({ ...each, attempt: 1, placeBefore: now }) as HeldCall,
  );
  const asked: string[] = [];
  const gateway: Pick<CallGateway, 'lookup'> = {
    lookup: ({ roomId }) => {
      asked.push(roomId);
      return new Promise(() => {});
    },
  };
  const doubtful = createDoubtfulCalls({
    callOf: (roomId) => held.find((call) => call.roomId === roomId),
    clock: { now: () => now },
    log: pino({ level: 'silent' }),
    mayJudge: async () => true,
    gatewayFor: () => gateway as CallGateway,
    record: () => {},
    giveBack: async () => {},
  });
  doubtful.watch(held);
  await doubtful.lookUp();
  expect(asked).toContain('other');
  expect(asked.length).toBeLessThan(200);
  doubtful.forget();
});

test('a provider that is slow about one call holds up no other, and is not asked again meanwhile', async () => {
  const now = new Date();
  const ended: CallState = { state: 'ended', outcome: 'answered', endedBy: 'callee', endedAt: now };
  const held = new Map(
    ['slow', 'quick'].map((roomId) => [
      roomId,
      { roomId, workspaceId: 'ours', attempt: 1, placeBefore: now } as HeldCall,
    ]),
  );
  const recorded: string[] = [];
  const asked: string[] = [];
  let answer: (state: CallState) => void = () => {};
  const gateway: Pick<CallGateway, 'lookup'> = {
    lookup: async ({ roomId }) => {
      asked.push(roomId);
      return roomId === 'quick' ? ended : new Promise((resolve) => (answer = resolve));
    },
  };
  const doubtful = createDoubtfulCalls({
    callOf: (roomId) => held.get(roomId),
    clock: { now: () => now },
    log: pino({ level: 'silent' }),
    mayJudge: async () => true,
    gatewayFor: () => gateway as CallGateway,
    record: (events: CallEvent[]) => recorded.push(...events.map(({ roomId }) => roomId)),
    giveBack: async () => {},
  });
  doubtful.watch([...held.values()]);
  await doubtful.lookUp();
  await doubtful.lookUp();
  expect([asked, recorded]).toEqual([['slow', 'quick'], ['quick']]);
  answer(ended);
  await expect.poll(() => recorded).toEqual(['quick', 'slow']);
  doubtful.forget();
});

test('while the database may have lost what it knew, no provider is asked what became of a call', async () => {
  const now = new Date();
  const call = { roomId: 'one', workspaceId: 'ours', attempt: 1, placeBefore: now } as HeldCall;
  let isSure = false;
  const asked: string[] = [];
  const doubtful = createDoubtfulCalls({
    callOf: () => call,
    clock: { now: () => now },
    log: pino({ level: 'silent' }),
    mayJudge: async () => isSure,
    gatewayFor: () =>
      ({
        lookup: async ({ roomId }) => {
          asked.push(roomId);
          return { state: 'undetermined', detail: 'nothing' };
        },
      }) as Pick<CallGateway, 'lookup'> as CallGateway,
    record: () => {},
    giveBack: async () => {},
  });
  doubtful.watch([call]);
  await doubtful.lookUp();
  expect(asked).toEqual([]);
  isSure = true;
  await doubtful.lookUp();
  expect(asked).toEqual(['one']);
  doubtful.forget();
});
