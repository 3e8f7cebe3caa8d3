import { setTimeout as sleep } from 'node:timers/promises';
import { digitsMs, isDigit } from '@trunkline/media';
import type { Call } from '@trunkline/sip';
import type { Sound } from '../../conversation/sound.ts';
import type { DigitsSent } from '../../media/digits.ts';
import type { Trunk } from '../trunk.ts';

/** How long a digit is said to sound, in ms. */
const TONE_MS = 100;

/** Sends digits in a call, in the way that its trunk wants them. */
export const sendDigits = (by: Trunk['dtmf'], call: Call, digits: string, sound: Sound): Promise<DigitsSent> =>
  by === 'info' ? sendByInfo(call, digits) : sound.sendDigits(digits);

/** One INFO a digit, in the form that most carriers know; the next one after its answer, and after its time. */
async function sendByInfo(call: Call, digits: string): Promise<DigitsSent> {
  let isOver = false;
  void call.ended.then(() => {
    isOver = true;
  });
  for (const each of digits) {
    if (isOver) return { isSent: false, reason: 'call_ended' };
    const rest = sleep(digitsMs(each));
    if (isDigit(each)) {
      const status = await call.info('application/dtmf-relay', `Signal=${each}\r\nDuration=${TONE_MS}\r\n`);
      if (status === undefined || status > 299) return { isSent: false, reason: isOver ? 'call_ended' : 'refused' };
    }
    await rest;
  }
  return { isSent: true };
}
