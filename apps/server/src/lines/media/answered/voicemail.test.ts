import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Moment, noVoicemail, type Voicemail, type VoicemailAction, voicemailAt } from './voicemail.ts';

const machine = { answeredBy: 'machine', confidence: 0.9 } as const;
const beep = { fromMs: 5000, untilMs: 5400, hz: 1000 };
const moment = (now: number, more: Partial<Moment> = {}): Moment => ({
  ...{ now, verdict: machine, beepFrom: undefined, lastBeep: undefined, spokeUntil: 4000, ...more },
});
const waiting: Voicemail = { mode: 'waiting', since: 3000, begun: 0 };

test.each<[VoicemailAction, string | undefined]>([
  ['continue', undefined],
  ['hang_up', 'hang_up'],
  ['leave_message', 'hush'],
])('a machine that is sure, with %s', (action, effect) => {
  expect(voicemailAt(action, noVoicemail, moment(3000)).effect).toBe(effect);
});

test.each<[Moment['verdict']]>([
  [{ answeredBy: 'machine', confidence: 0.8 }],
  [{ answeredBy: 'human', confidence: 0.99 }],
  [{ answeredBy: 'unknown', confidence: 0 }],
  [{ answeredBy: 'screening', confidence: 0.93 }],
])('nothing is done for a doubt, or for anybody else: %o', (verdict) => {
  for (const action of ['hang_up', 'leave_message'] as const)
    expect(voicemailAt(action, noVoicemail, moment(3000, { verdict })).effect).toBeUndefined();
});

test('the agent goes on if it was no machine after all', () => {
  const verdict = { answeredBy: 'human', confidence: 0.95 } as const;
  expect(voicemailAt('leave_message', waiting, moment(3500, { verdict })).effect).toBe('go_on');
});

test('the message begins soon after the beep, and not while it sounds', () => {
  const at = (now: number) =>
    voicemailAt('leave_message', waiting, moment(now, { beepFrom: 5000, ...(now >= 5440 && { lastBeep: beep }) }))
      .effect;
  expect([5100, 5400, 5500, 5599].map(at)).toEqual([undefined, undefined, undefined, undefined]);
  expect(at(5600)).toBe('begin');
});

test('without a beep it begins after two seconds of silence', () => {
  expect(voicemailAt('leave_message', waiting, moment(5980)).effect).toBeUndefined();
  expect(voicemailAt('leave_message', waiting, moment(6000)).effect).toBe('begin');
});

test('a beep whose end is never heard is waited for no longer than a beep lasts', () => {
  const at = (now: number) => voicemailAt('leave_message', waiting, moment(now, { beepFrom: 5000 })).effect;
  expect(at(9980)).toBeUndefined();
  expect(at(10_000)).toBe('begin');
});

test('it begins again for a beep in its first five seconds, and twice at most', () => {
  const leaving = (begun: number): Voicemail => ({ mode: 'leaving', since: 5600, begun });
  const another = (now: number, begun: number) =>
    voicemailAt('leave_message', leaving(begun), moment(now, { beepFrom: now - 140, lastBeep: beep })).effect;
  expect(another(7000, 1)).toBe('stop');
  expect(another(7000, 2)).toBe('stop');
  expect(another(7000, 3)).toBeUndefined();
  expect(another(10_700, 1)).toBeUndefined();
});

test('a machine that never ends is given up', () => {
  const speaks = (now: number) => voicemailAt('leave_message', waiting, moment(now, { spokeUntil: now }));
  expect(speaks(62_000).effect).toBeUndefined();
  expect(speaks(63_000)).toMatchObject({ effect: 'hang_up', voicemail: { mode: 'over' } });
});

test('whatever is heard, a message is begun three times at most, and each call comes to an end of it', () => {
  const verdicts = fc.constantFrom(machine, { answeredBy: 'human', confidence: 0.6 } as const);
  const steps = fc.array(fc.tuple(verdicts, fc.boolean(), fc.boolean()), { minLength: 500, maxLength: 1500 });
  fc.assert(
    fc.property(steps, (all) => {
      let voicemail = noVoicemail;
      const heard: Partial<Moment> = {};
      for (const [at, [verdict, beeps, speaks]] of all.entries()) {
        const now = at * 100;
        if (beeps && heard.beepFrom === undefined) heard.beepFrom = now;
        else if (beeps) heard.lastBeep = { fromMs: heard.beepFrom!, untilMs: now, hz: 1000 };
        if (speaks) heard.spokeUntil = now;
        voicemail = voicemailAt('leave_message', voicemail, moment(now, { ...heard, verdict })).voicemail;
        expect(voicemail.begun).toBeLessThanOrEqual(3);
      }
    }),
    { numRuns: 20 },
  );
});
