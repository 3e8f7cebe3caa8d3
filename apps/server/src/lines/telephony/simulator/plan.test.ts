import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callsBack, defaultProfile, INBOUND, type PlannedCall, planCall, scripts } from './plan.ts';

const number = fc.oneof(
  fc.integer({ min: 10_000_000, max: 999_999_999_999 }).map((digits) => `+${digits}`),
  fc.constantFrom(...Object.keys(scripts)).map((suffix) => `+1415555${suffix}`),
);
const anyCall: fc.Arbitrary<PlannedCall> = fc.record({
  to: number,
  attempt: fc.integer({ min: 1, max: 20 }),
  ringTimeoutSeconds: fc.integer({ min: 1, max: 120 }),
  maxCallSeconds: fc.integer({ min: 1, max: 14_400 }),
});

const outcomeOf = (suffix: string, attempt = 1) =>
  planCall('seed', { to: `+1415555${suffix}`, attempt, ringTimeoutSeconds: 30, maxCallSeconds: 3_600 }).outcome;

describe('planCall', () => {
  test('is the same for the same seed and call', () => {
    fc.assert(
      fc.property(fc.string(), anyCall, (seed, call) => {
        expect(planCall(seed, { ...call })).toEqual(planCall(seed, call));
      }),
    );
  });

  test('orders its moments', () => {
    fc.assert(
      fc.property(fc.string(), anyCall, (seed, call) => {
        const plan = planCall(seed, call);
        const moments = [0, plan.ringingAfter, plan.answeredAfter, plan.endedAfter].filter((at) => at !== undefined);
        expect(moments).toEqual(moments.toSorted((a, b) => a - b));
        expect(moments.every(Number.isSafeInteger)).toBe(true);
        if (plan.answeredAfter !== undefined) expect(plan.ringingAfter).toBeDefined();
      }),
    );
  });

  test('never rings longer than the ring timeout, nor talks longer than the call may last', () => {
    fc.assert(
      fc.property(fc.string(), anyCall, (seed, call) => {
        const { ringingAfter, answeredAfter, endedAfter } = planCall(seed, call);
        const rung = ringingAfter === undefined ? 0 : (answeredAfter ?? endedAfter) - ringingAfter;
        const talked = answeredAfter === undefined ? 0 : endedAfter - answeredAfter;
        expect(rung).toBeLessThanOrEqual(call.ringTimeoutSeconds * 1_000);
        expect(talked).toBeLessThanOrEqual(call.maxCallSeconds * 1_000);
      }),
    );
  });

  test('is answered exactly where a person or a machine picks up', () => {
    fc.assert(
      fc.property(fc.string(), anyCall, (seed, call) => {
        const { outcome, answeredAfter } = planCall(seed, call);
        expect(answeredAfter !== undefined).toBe(outcome === 'answered' || outcome === 'voicemail');
      }),
    );
  });

  test('keeps the default profile, and attempts of a number differ', () => {
    const outcomes = new Map<string, number>();
    let differing = 0;
    for (let line = 0; line < 4_000; line += 1) {
      const call = { to: `+4930${100_000 + line}`, ringTimeoutSeconds: 60, maxCallSeconds: 600 };
      const { outcome } = planCall('seed', { ...call, attempt: 1 });
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (planCall('seed', { ...call, attempt: 2 }).outcome !== outcome) differing += 1;
    }
    for (const [outcome, weight] of Object.entries(defaultProfile.weights)) {
      expect((outcomes.get(outcome) ?? 0) / 4_000, outcome).toBeCloseTo(weight / 100, 1);
    }
    expect(outcomes.has('trunk_error')).toBe(false);
    expect(differing).toBeGreaterThan(1_000);
  });

  test.each([
    ['0100', 'answered'],
    ['0101', 'answered'],
    ['0102', 'answered'],
    ['0103', 'declined'],
    ['0104', 'invalid_number'],
    ['0108', 'no_answer'],
    ['0117', 'voicemail'],
    ['0150', 'trunk_error'],
    ['0160', 'agent_error'],
    ['0186', 'busy'],
  ])('magic number %s is %s', (suffix, outcome) => {
    expect(outcomeOf(suffix)).toBe(outcome);
    expect(outcomeOf(suffix, 4)).toBe(outcome);
  });

  test('0172 and 0173 answer at the second and third attempt', () => {
    expect([1, 2, 3].map((attempt) => outcomeOf('0172', attempt))).toEqual(['busy', 'answered', 'answered']);
    expect([1, 2, 3].map((attempt) => outcomeOf('0173', attempt))).toEqual(['no_answer', 'no_answer', 'answered']);
  });

  test('0190 declines, and answers for itself where it calls back', () => {
    expect([1, 2].map((attempt) => outcomeOf('0190', attempt))).toEqual(['declined', 'declined']);
    const plan = planCall('seed', { to: '+14155550190', attempt: INBOUND, ringTimeoutSeconds: 0, maxCallSeconds: 60 });
    expect(plan).toEqual({ answeredAfter: 0, endedAfter: 30_000, outcome: 'answered', endedBy: 'caller' });
    expect(['+14155550190', '+14155550191', '+494155550190'].map(callsBack)).toEqual([true, false, false]);
  });

  test('0102 talks until its time limit', () => {
    const call = { to: '+14155550102', attempt: 1, ringTimeoutSeconds: 30, maxCallSeconds: 3_600 };
    const plan = planCall('seed', call);
    expect(plan.endedBy).toBe('time_limit');
    expect(plan.endedAfter - (plan.answeredAfter ?? 0)).toBe(3_600_000);
  });
});
