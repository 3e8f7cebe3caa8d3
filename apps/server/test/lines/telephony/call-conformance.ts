import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import type {
  CallEvent,
  CallGateway,
  CallReference,
  CallRequest,
  PlaceResult,
} from '../../../src/lines/telephony/call-gateway.ts';
import type { CallOutcome } from '../../../src/lines/telephony/call-outcome.ts';

/** A gateway under test, with the callees that play the parts. */
export interface GatewayUnderTest {
  gateway: CallGateway;
  /** Another process at the same provider, started; the first one goes on unless it was stopped. */
  startAnother(): Promise<CallGateway>;
  /** A number that ends a first attempt so, for each outcome that the provider can give. */
  callees: Partial<Record<CallOutcome, string>>;
  /** A number that rings for at least a second, and one that talks until somebody hangs up. */
  ringsLong: string;
  talksLong: string;
  /** Makes the answer of the next placement get lost, after or before the provider has taken the call. */
  loseNextAnswer(when: 'after' | 'before'): void;
  /** Makes every event come twice. */
  doubleEvents(): void;
  /** Whether calls are up without the process that has placed them, so that a successor follows them. */
  outlivesProcess: boolean;
  /** Whether a room that a look-up has found absent can still be placed. */
  placesAbsent: boolean;
  /** How often the provider has dialled a room. */
  dialled(roomId: string): Promise<number>;
  close(): Promise<void>;
}

type OfCall = Exclude<CallEvent, { type: 'agent_heard' }>;
const isOfCall = (event: CallEvent): event is OfCall => event.type !== 'agent_heard';
const order = { ringing: 0, answered: 1, answered_by: 2, ended: 3 };

/** What every adapter must do. `makeGateway` gives one that is not started; it should ring and talk fast. */
export function callConformance(name: string, makeGateway: () => Promise<GatewayUnderTest>): void {
  describe(`${name} conforms to the port of calls`, () => {
    let under: GatewayUnderTest;
    let gateway: CallGateway;
    let events: OfCall[];

    beforeEach(async () => {
      under = await makeGateway();
      gateway = under.gateway;
      events = [];
      // Not every carrier knows what an agent says.
      gateway.onEvents((set) => events.push(...set.filter(isOfCall)));
      await gateway.start();
    });
    afterEach(async () => {
      await gateway.stop();
      await under.close();
    });

    const heard = (roomId: string) => events.filter((event) => event.roomId === roomId);
    const types = (roomId: string) => heard(roomId).map(({ type }) => type);
    const until = (roomId: string, type: CallEvent['type']) =>
      expect.poll(() => types(roomId), { interval: 5 }).toContain(type);
    const endOf = async (roomId: string) => {
      await until(roomId, 'ended');
      return heard(roomId).find((event) => event.type === 'ended')!;
    };

    const request = (to: string, limits: Partial<CallRequest> = {}): CallRequest & CallReference => ({
      workspaceId: newUuid(),
      roomId: newUuid(),
      attempt: 1,
      to,
      from: '+14155550200',
      agentId: 'agent_reception',
      ringTimeoutSeconds: 30,
      maxCallSeconds: 14_400,
      recording: false,
      owner: { kind: 'intent', id: newUuid() },
      placedAt: new Date(),
      ...limits,
    });
    const place = async (to: string, limits?: Partial<CallRequest>) => {
      const call = request(to, limits);
      return { call, answer: await gateway.placeCall(call) };
    };
    const accepted: PlaceResult = { status: 'accepted' };

    test('an answered call rings, is answered and ends, in this order of time', async () => {
      const { call, answer } = await place(under.callees.answered!);
      expect(answer).toEqual(accepted);
      await until(call.roomId, 'ended');
      expect(types(call.roomId)).toEqual(['ringing', 'answered', 'ended']);
      const times = heard(call.roomId).map(({ at }) => at.getTime());
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    });

    test('each outcome is told by a rejection or by the end, and the lookup agrees', async () => {
      const callees = Object.entries(under.callees);
      expect(callees.length).toBeGreaterThan(0);
      await Promise.all(
        callees.map(async ([outcome, to]) => {
          const { call, answer } = await place(to);
          if (answer.status === 'rejected') {
            expect(answer.outcome).toBe(outcome);
            expect(await gateway.lookup(call)).toEqual({ state: 'absent' });
            expect(heard(call.roomId)).toEqual([]);
            return;
          }
          expect(answer).toEqual(accepted);
          expect(await endOf(call.roomId), outcome).toMatchObject({ outcome });
          expect(await gateway.lookup(call)).toMatchObject({ state: 'ended', outcome });
          const wasAnswered = outcome === 'answered' || outcome === 'voicemail';
          expect(types(call.roomId).includes('answered'), outcome).toBe(wasAnswered);
        }),
      );
    });

    test('a call is never longer than its limit', async () => {
      const { call } = await place(under.talksLong, { maxCallSeconds: 1 });
      expect(await endOf(call.roomId)).toMatchObject({ outcome: 'answered', endedBy: 'time_limit' });
    });

    test('a call never rings longer than its ring timeout', async () => {
      const { call } = await place(under.ringsLong, { ringTimeoutSeconds: 1 });
      const ended = await endOf(call.roomId);
      expect(ended).toMatchObject({ outcome: 'no_answer' });
      const ringing = heard(call.roomId)[0]!;
      expect(ringing.type).toBe('ringing');
      expect(ended.at.getTime() - ringing.at.getTime()).toBeLessThan(5_000);
    });

    test('a ringing call that is ended is cancelled, and never answered', async () => {
      const { call } = await place(under.ringsLong, { ringTimeoutSeconds: 300 });
      await until(call.roomId, 'ringing');
      expect(await gateway.lookup(call)).toMatchObject({ state: 'live', phase: 'ringing' });
      expect(await gateway.endCall(call)).toBe('ending');
      expect(await endOf(call.roomId)).toMatchObject({ outcome: 'cancelled', endedBy: 'service' });
      expect(await gateway.lookup(call)).toMatchObject({ state: 'ended', outcome: 'cancelled', endedBy: 'service' });
      expect(types(call.roomId)).toEqual(['ringing', 'ended']);
    });

    test('an answered call that is ended stays answered', async () => {
      const { call } = await place(under.talksLong);
      await until(call.roomId, 'answered');
      expect(await gateway.lookup(call)).toMatchObject({ state: 'live', phase: 'answered' });
      expect(await gateway.endCall(call)).toBe('ending');
      expect(await endOf(call.roomId)).toMatchObject({ outcome: 'answered', endedBy: 'service' });
      expect(await gateway.lookup(call)).toMatchObject({ state: 'ended', outcome: 'answered', endedBy: 'service' });
    });

    test('a call that is ended twice, at once or later, ends once', async () => {
      const { call } = await place(under.talksLong);
      await until(call.roomId, 'answered');
      const answers = await Promise.all([gateway.endCall(call), gateway.endCall(call)]);
      expect(answers.filter((answer) => answer === 'ending')).toHaveLength(1);
      await until(call.roomId, 'ended');
      expect(await gateway.endCall(call)).toBe('already_ended');
      expect(types(call.roomId).filter((type) => type === 'ended')).toHaveLength(1);
    });

    test('a call that was never placed is absent', async () => {
      const call = request(under.callees.answered!);
      expect(await gateway.lookup(call)).toEqual({ state: 'absent' });
      expect(await gateway.endCall(call)).toBe('absent');
    });

    test('an unknown answer is settled by lookup: the provider has the call', async () => {
      under.loseNextAnswer('after');
      const { call, answer } = await place(under.talksLong);
      expect(answer.status).toBe('unknown');
      expect(await gateway.lookup(call)).toMatchObject({ state: 'live' });
      expect(await under.dialled(call.roomId)).toBe(1);
      await until(call.roomId, 'answered');
    });

    test('an unknown answer is settled by lookup: the provider has not heard of it', async () => {
      under.loseNextAnswer('before');
      const { call, answer } = await place(under.talksLong);
      expect(answer.status).toBe('unknown');
      expect(await gateway.lookup(call)).toEqual({ state: 'absent' });
      expect(await under.dialled(call.roomId)).toBe(0);
      const again = await gateway.placeCall(call);
      if (!under.placesAbsent) return expect(again.status).toBe('unknown');
      expect(again).toEqual(accepted);
      await until(call.roomId, 'answered');
    });

    test('a room that is placed again makes no second call', async () => {
      const call = request(under.callees.answered!);
      const answers = await Promise.all([gateway.placeCall(call), gateway.placeCall(call)]);
      expect(answers.map(({ status }) => status)).not.toContain('unknown');
      await until(call.roomId, 'ended');
      await gateway.placeCall(call);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(types(call.roomId)).toEqual(['ringing', 'answered', 'ended']);
    });

    test('events that come twice say the same twice', async () => {
      under.doubleEvents();
      const { call } = await place(under.callees.answered!);
      const both = ['ringing', 'ringing', 'answered', 'answered', 'ended', 'ended'];
      const sorted = () => types(call.roomId).sort((a, b) => order[a] - order[b]);
      await expect.poll(sorted).toEqual(both);
      const kinds = new Set(heard(call.roomId).map((event) => JSON.stringify(event)));
      expect(kinds.size).toBe(3);
    });

    test('a listener that is removed hears no more', async () => {
      let sets = 0;
      const remove = gateway.onEvents(() => {
        sets += 1;
        remove();
      });
      const { call } = await place(under.talksLong);
      await until(call.roomId, 'answered');
      expect(await gateway.endCall(call)).toBe('ending');
      await until(call.roomId, 'ended');
      expect(sets).toBe(1);
    });

    test('stop leaves no event behind, may come twice, and what it stopped places nothing', async () => {
      const { call } = await place(under.ringsLong);
      await until(call.roomId, 'ringing');
      await gateway.stop();
      await gateway.stop();
      const known = events.length;
      expect((await gateway.placeCall(request(under.callees.answered!))).status).toBe('rejected');
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(events).toHaveLength(known);
    });

    test('a successor finds the calls of a stopped process, hears of them and can end them', async () => {
      const live = (await place(under.talksLong)).call;
      const ended = (await place(under.callees.busy!)).call;
      await until(live.roomId, 'answered');
      await until(ended.roomId, 'ended');
      await gateway.stop();

      const successor = await under.startAnother();
      const later: CallEvent[] = [];
      successor.onEvents((set) => later.push(...set));
      try {
        expect(await successor.lookup(ended)).toMatchObject({ state: 'ended', outcome: 'busy' });
        if (!under.outlivesProcess) {
          expect(await successor.lookup(live)).toMatchObject({
            state: 'ended',
            outcome: 'answered',
            endedBy: 'service',
          });
          return;
        }
        expect(await successor.lookup(live)).toMatchObject({ state: 'live', phase: 'answered' });
        expect(await successor.endCall(live)).toBe('ending');
        await expect.poll(() => later.map(({ type }) => type)).toEqual(['ended']);
      } finally {
        await successor.stop();
      }
    });
  });
}
