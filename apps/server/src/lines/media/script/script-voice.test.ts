import { Playout, type Speech } from '@trunkline/media';
import { expect, test } from 'vitest';
import type { ScriptStep } from './script.ts';
import { ScriptVoice } from './script-voice.ts';

const steps: ScriptStep[] = [
  { id: 'hello', type: 'say', text: 'Hello.' },
  { id: 'out', type: 'opt_out' },
  { id: 'bye', type: 'hang_up' },
];
const soon = () => new Promise((resolve) => setImmediate(resolve));

/** A script in a call: what it asks for beside its sentences, and whether it has ended. */
async function started() {
  const asked: string[] = [];
  let isOver = false;
  const playout = new Playout((name) => voice.mark(name));
  const speech: Speech = {
    playout,
    turns: { fellSilent: () => undefined },
    ask: async (what) => {
      const { type } = what as { type: string };
      if (type === 'speech') return new SharedArrayBuffer(8000);
      asked.push(type);
      return undefined;
    },
    end: () => {
      isOver = true;
    },
  };
  const voice = new ScriptVoice({ steps, variables: {}, language: 'en', keptTexts: [], readyMs: 0 }, speech);
  voice.start();
  await soon();
  return { voice, playout, asked, isOver: () => isOver };
}

/** All that was given is played. */
async function played({ playout }: Awaited<ReturnType<typeof started>>): Promise<void> {
  const frame = Buffer.alloc(160);
  while (playout.queued > 0) playout.next(frame);
  playout.next(frame);
  await soon();
}

test('a script walks on once a sentence was heard', async () => {
  const call = await started();
  await played(call);
  expect(call.asked).toEqual(['record_result']);
  expect(call.isOver()).toBe(true);
});

test.each<[string, (voice: ScriptVoice) => void]>([
  ['is to leave a message', (voice) => voice.answeredBy({ event: 'leave_message' })],
  ['is heard again', (voice) => voice.hushed(false)],
])('one that is not heard stands still, and begins again if it %s', async (_, goesOn) => {
  const call = await started();
  call.voice.hushed(true);
  await played(call);
  call.voice.digit('5');
  await played(call);
  expect(call.asked).toEqual([]);
  expect(call.isOver()).toBe(false);
  goesOn(call.voice);
  await soon();
  expect(call.playout.queued).toBe(8000);
  await played(call);
  expect(call.isOver()).toBe(true);
});
