import { arrivalsKept } from './arriving.ts';
import { committedFirst, dialledOnce, nobodyCutOff, oneAtATime, triesKept, unknownNotRedialled } from './dialling.ts';
import {
  acceptedKept,
  allEnded,
  answersRight,
  askedFor,
  atRest,
  countsRight,
  nobodyLeftOut,
  runsStepOnce,
} from './keeping.ts';
import type { Law } from './law.ts';
import { hoursKept, limitsKept, silenceKept } from './limits.ts';
import { streamsWhole, toldInOrder, toldOnceAtLeast, toldTruly } from './telling.ts';

/** What every history is judged by. */
export const laws: readonly Law[] = [
  dialledOnce,
  oneAtATime,
  committedFirst,
  unknownNotRedialled,
  triesKept,
  nobodyCutOff,
  arrivalsKept,
  hoursKept,
  silenceKept,
  limitsKept,
  acceptedKept,
  askedFor,
  allEnded,
  nobodyLeftOut,
  atRest,
  countsRight,
  runsStepOnce,
  answersRight,
  toldOnceAtLeast,
  toldTruly,
  toldInOrder,
  streamsWhole,
];
