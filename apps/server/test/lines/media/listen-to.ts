import { CalleeListener, type Heard } from '@trunkline/media';
import { wordsInGreeting } from '../../../src/lines/media/answered/greeting-words.ts';
import { type Evidence, evidenceOf, judgeAnswerer, wordsOf } from '../../../src/lines/media/answered/judge-answerer.ts';
import type { SpokenCall } from './spoken-calls.ts';

/** Something that was heard of a spoken call, and when that was known. */
interface Known {
  atMs: number;
  heard: Heard;
}

/** A speech model's words come so late, and every so many of them is wrong. */
const LATE_MS = 800;
const WRONG = 10;

/** Listens to a spoken call, as the voice of an agent does. @param withWords whether words are understood, as by a model that is late and errs */
export function listenTo(call: SpokenCall, withWords: boolean) {
  const listener = new CalleeListener();
  const known: Known[] = [];
  const evidence: Evidence[] = [];
  let hasGreeted = false;
  let machineAt: number | undefined;
  const said = call.text.split(' ').map((word, at) => (at % WRONG === WRONG / 2 ? 'tomato' : word));
  for (const frame of call.frames) {
    for (const heard of listener.hear(frame)) {
      known.push({ atMs: listener.now, heard });
      const found = evidenceOf(heard, !hasGreeted);
      if (heard.type === 'pause') hasGreeted = true;
      if (found) evidence.push(found);
    }
    if (withWords) {
      const share = (listener.now - LATE_MS - call.saidFrom) / (call.saidUntil - call.saidFrom);
      const found = wordsInGreeting(said.slice(0, Math.floor(said.length * Math.min(1, share))).join(' '));
      if (found && share > 0)
        evidence.splice(
          0,
          evidence.length,
          ...evidence.filter((each) => each.heard !== 'words'),
          wordsOf(found.suggests, found.confidence, found.words, listener.now),
        );
    }
    if (judgeAnswerer(evidence).answeredBy === 'machine') machineAt ??= listener.now;
  }
  return { known, machineAt, verdict: judgeAnswerer(evidence) };
}

/** How beeps of spoken calls were heard: those that were made, those known within 300 ms of their begin, and those that were none. */
export function countBeeps(call: SpokenCall, known: readonly Known[]) {
  const told = known.filter(({ heard }) => heard.type === 'beep');
  const isOf = ({ heard }: Known, { from, until }: SpokenCall['beeps'][number]) =>
    heard.from >= from - 60 && heard.from <= until;
  return {
    made: call.beeps.length,
    found: call.beeps.filter((beep) => told.some((each) => isOf(each, beep) && each.atMs - beep.from <= 300)).length,
    wrong: told.filter((each) => !call.beeps.some((beep) => isOf(each, beep))).length,
  };
}
