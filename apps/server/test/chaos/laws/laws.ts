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
import { lossFound, rungOnceOverLoss, silentWhileHeld } from './losing.ts';
import { streamsTrue, streamsWhole, toldInOrder, toldOnceAtLeast, toldTruly } from './telling.ts';

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
  streamsTrue,
];

/** What a history is judged by whose database has lost its last commits, once what it had promised before was done. */
export const lawsOfLoss: readonly Law[] = [
  rungOnceOverLoss,
  lossFound,
  silentWhileHeld,
  acceptedKept,
  allEnded,
  atRest,
  countsRight,
];
