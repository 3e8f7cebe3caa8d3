import { setTimeout as sleep } from 'node:timers/promises';
import { digitsMs, isDigit } from '@trunkline/media';
import type { Call } from '@trunkline/sip';
import type { Sound } from '../../conversation/sound.ts';
import { type DigitsSent, MOST_LATE_MS } from '../../media/digits.ts';
import type { Trunk } from '../trunk.ts';

/** How long a digit is said to sound, in ms. */
const TONE_MS = 100;

/** Sends digits in a call, in the way that its trunk wants them. */
export const sendDigits = (by: Trunk['dtmf'], call: Call, digits: string, sound: Sound): Promise<DigitsSent> =>
  by === 'info' ? sendByInfo(call, digits) : sound.sendDigits(digits);

/**
 * One INFO a digit, in the form that most carriers know; the next one after its answer, and after its time. Once the call has
 * ended, or the answers have taken too long, no digit is sent any more.
 */
async function sendByInfo(call: Call, digits: string): Promise<DigitsSent> {
  let over: 'call_ended' | 'refused' | undefined;
  let late: NodeJS.Timeout | undefined;
  const stop = new Promise<undefined>((resolve) => {
    const end = (why: typeof over) => {
      over ??= why;
      resolve(undefined);
    };
    void call.ended.then(() => end('call_ended'));
    late = setTimeout(() => end('refused'), digitsMs(digits) + MOST_LATE_MS);
  });
  try {
    for (const each of digits) {
      if (over) return { isSent: false, reason: over };
      const rest = sleep(digitsMs(each));
      if (isDigit(each)) {
        const answered = call.info('application/dtmf-relay', `Signal=${each}\r\nDuration=${TONE_MS}\r\n`);
        const status = await Promise.race([answered, stop]);
        if (status === undefined || status > 299) return { isSent: false, reason: over ?? 'refused' };
      }
      await Promise.race([rest, stop]);
    }
    return { isSent: true };
  } finally {
    clearTimeout(late);
  }
}
