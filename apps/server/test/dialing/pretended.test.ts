import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { askForCall } from '../../src/dialing/calls/ask-for-call.ts';
import type { EndedCall, ReturnedCall } from '../../src/dialing/calls/call.ts';
import type { CallOwner } from '../../src/dialing/calls/call-owner.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import { newUuid } from '../../src/foundation/values/ids.ts';
import type { CallRequest } from '../../src/lines/telephony/call-gateway.ts';
import { noOperatorLimits } from '../../src/platform/workspace/operator-limits.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { callConformance } from '../lines/telephony/call-conformance.ts';
import { marketConformance } from '../lines/telephony/market-conformance.ts';
import { PretendedWorld, pretendedCalls, pretendedMarket } from '../lines/telephony/pretended-carrier.ts';
import { seedRow } from '../seed/rows.ts';
import { seedWorkspace } from '../seed/workspace.ts';
import { until } from '../until.ts';
import { startTestDialer } from './dialing.ts';

const [ANSWERS, BUSY, RINGS, TALKS] = ['+14155550101', '+14155550102', '+14155550103', '+14155550104'] as const;
const callees = {
  [ANSWERS]: { outcome: 'answered', ring: 20, talk: 20 },
  [BUSY]: { outcome: 'busy', ring: 20 },
  [RINGS]: { outcome: 'no_answer', ring: 60_000 },
  [TALKS]: { outcome: 'answered', ring: 20, talk: 60_000_000 },
} as const;

/** The carrier with answers that get lost, and events that come twice. */
callConformance('a pretended carrier', async () => {
  const world = new PretendedWorld(callees);
  const real = pretendedCalls(world);
  let loses: 'after' | 'before' | undefined;
  let doubles = false;
  const lost = { status: 'unknown', detail: 'the answer was lost' } as const;
  const placeCall = async (request: CallRequest) => {
    const when = loses;
    loses = undefined;
    if (when === 'before') return lost;
    const answer = await real.placeCall(request);
    return when ? lost : answer;
  };
  return {
    gateway: {
      ...real,
      placeCall,
      onEvents: (listener) => real.onEvents((set) => (doubles ? [set, set] : [set]).forEach(listener)),
    },
    startAnother: async () => {
      const another = pretendedCalls(world);
      await another.start();
      return another;
    },
    callees: { answered: ANSWERS, busy: BUSY },
    outlivesProcess: true,
    placesAbsent: true,
    ringsLong: RINGS,
    talksLong: TALKS,
    loseNextAnswer: (when) => {
      loses = when;
    },
    doubleEvents: () => {
      doubles = true;
    },
    dialled: async (roomId) => Number(world.calls.has(roomId)),
    close: async () => {
      for (const { timer } of world.calls.values()) clearTimeout(timer);
    },
  };
});

marketConformance('a pretended carrier', async () => ({
  market: pretendedMarket('+13125550109'),
  country: 'US',
  losesAnswer: '+13125550109',
}));

/** What an owner was told of. */
interface Told {
  ended: EndedCall[];
  returned: ReturnedCall[];
}

/** An owner that no code of the server's knows. */
const pretendedOwner = (kind: string, told: Told, mayBePlaced = true): CallOwner => ({
  kind,
  mayBePlaced: () => sql`${mayBePlaced}`,
  onCallsEnded: async (_tx, calls) => void told.ended.push(...calls),
  onCallsReturned: async (_tx, calls) => void told.returned.push(...calls),
});

describe('an owner and a carrier that are given to compose alone', () => {
  /** A dialer that has them, and a call of each owner. */
  async function calling(database: Database) {
    const told = { reminder: { ended: [], returned: [] } as Told, survey: { ended: [], returned: [] } as Told };
    const world = new PretendedWorld(callees);
    const { switchboard, stop, lease } = await startTestDialer(database, {
      carriers: new Map([['telnyx', { calls: pretendedCalls(world), numbers: pretendedMarket('') }]]),
      owners: [pretendedOwner('reminder', told.reminder), pretendedOwner('survey', told.survey, false)],
    });
    const workspaceId = await seedWorkspace(database);
    const trunkId = newUuid();
    await seedRow(database, 'trunks', { workspace_id: workspaceId, id: trunkId });
    await seedRow(database, 'phone_numbers', {
      workspace_id: workspaceId,
      phone_number: '+13125550100',
      provider: 'telnyx',
      trunk_id: trunkId,
    });
    const call = async (kind: string, to: string) => {
      const wish = {
        ...{ workspaceId, owner: { kind, id: newUuid() }, attempt: 1, to, from: { number: '+13125550100' } },
        ...{ agentId: 'agent', variables: { name: 'Ada' }, hours: {}, asksAgain: false },
        ...{ ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false },
      };
      const { isSimulated } = switchboard;
      const terms = { serverId: lease.serverId(), now: new Date(), isSimulated, operator: noOperatorLimits };
      const answer = await database.inEngine((tx) => askForCall(tx, wish, terms));
      if (answer.kind !== 'queued') throw new Error(`The call is ${answer.kind}.`);
      switchboard.place([answer.call]);
      return { roomId: answer.call.roomId, owner: wish.owner };
    };
    /** Asks again, as owners do, for a call that was given back because the machine was late. */
    const placed = async (to: string) => {
      for (;;) {
        const asked = await call('reminder', to);
        const isBack = () => told.reminder.returned.some(({ roomId }) => roomId === asked.roomId);
        await until(() => world.calls.has(asked.roomId) || isBack());
        if (world.calls.has(asked.roomId)) return asked;
      }
    };
    return { call, placed, told, world, workspaceId, switchboard, stop };
  }

  test('are all that a call needs: it is placed, told of by its end, and its row says whose it is', () =>
    withDatabase(async (database) => {
      const { placed, told, stop, world } = await calling(database);
      const { roomId, owner } = await placed(ANSWERS);
      await until(() => expect(told.reminder.ended).toMatchObject([{ roomId, owner, outcome: 'answered' }]));
      expect(world.calls.get(roomId)!.request).toMatchObject({ owner, agentId: 'agent' });
      const row = () =>
        database.inEngine(({ db }) =>
          db.selectFrom('calls').selectAll().where('id', '=', roomId).executeTakeFirstOrThrow(),
        );
      const whose = { owner_kind: 'reminder', owner_id: owner.id };
      await until(async () => expect(await row()).toMatchObject({ ...whose, simulated: false, outcome: 'answered' }));
      expect(told.survey).toEqual({ ended: [], returned: [] });
      await stop();
    }));

  test('an owner that does not want its call any more gets it back, and nothing rings', () =>
    withDatabase(async (database) => {
      const { call, told, stop, world } = await calling(database);
      const { roomId, owner } = await call('survey', ANSWERS);
      await until(() => expect(told.survey.returned).toMatchObject([{ roomId, owner, attemptTakenBack: true }]));
      expect(world.calls.size).toBe(0);
      expect(told.reminder).toEqual({ ended: [], returned: [] });
      await stop();
    }));

  test('a call that is ended tells its owner', () =>
    withDatabase(async (database) => {
      const { placed, told, stop, world, workspaceId, switchboard } = await calling(database);
      const { roomId } = await placed(TALKS);
      await until(() => expect(world.calls.get(roomId)?.answeredAt).toBeDefined());
      await database.inWorkspace(workspaceId, (tx) => switchboard.requestEnd(tx, [roomId], new Date()));
      switchboard.nudgeHangUps();
      await until(() => expect(told.reminder.ended).toMatchObject([{ roomId, outcome: 'answered' }]));
      await stop();
    }));
});
