import type { Ending, Leg, LegEnd, LegInput, NotSent } from '../../../src/lines/conversation/leg.ts';
import type { World } from './order.ts';

/** A leg whose far side does what it likes, in an order that SIP allows. */
export interface FarSide extends Leg {
  /** What the far side may do now, and how likely each is beside the others. */
  acts(): { name: string; run: () => void; weight: number }[];
  /** The user agent stops. */
  stop(): void;
  /** How it ended, and whether the far side had answered. */
  ended(): LegEnd | undefined;
  wasAnswered(): boolean;
  /** Whether it is still being prepared. */
  isIdle(): boolean;
  /** Whether the conversation has asked it to end. */
  isEndAsked(): boolean;
}

type State = 'idle' | 'placing' | 'sent' | 'cancelling' | 'rings' | 'unacknowledged' | 'answered' | 'ended';

/** What a callee's side answers, and what that is called. */
export const statuses = {
  404: 'invalid_number',
  480: 'no_answer',
  486: 'busy',
  503: 'trunk_error',
  603: 'declined',
} as const;

export function farSide(world: World, far: 'callee' | 'caller', tell: (input: LegInput) => void): FarSide {
  const { random, later, open } = world;
  let state: State = far === 'callee' ? 'idle' : 'rings';
  /** Whether its row was written, once that is known. */
  let begun = Promise.resolve(false);
  let wasAnswered = false;
  let isEndAsked = false;
  let ended: LegEnd | undefined;
  const end = (how: LegEnd) => {
    if (state === 'ended') return;
    state = 'ended';
    ended = how;
    tell({ type: 'leg_ended', end: how });
  };
  /** As `incoming.ended`, which is a promise. */
  const endSoon = (how: LegEnd) => {
    if (state === 'ended') return;
    state = 'ended';
    ended = how;
    queueMicrotask(() => tell({ type: 'leg_ended', end: how }));
  };
  const oneOf = <T>(...all: T[]): T => all[Math.floor(random() * all.length)]!;

  function begin(failsWith: number, then: (isKept: boolean) => void = () => {}): Promise<boolean> {
    const isKept = random() >= failsWith;
    begun = new Promise((resolve) =>
      later(isKept ? 'it is kept' : 'it is not kept', () => {
        if (isKept) open.rows += 1;
        resolve(isKept);
        then(isKept);
      }),
    );
    return begun;
  }

  function place(): void {
    begin(0.15, (isKept) => {
      if (state !== 'placing') return;
      if (!isKept) {
        const why = oneOf<NotSent>('forbidden', 'unwitnessed', 'not_kept', 'fault');
        return end({ kind: 'not_sent', why, text: why });
      }
      state = 'sent';
      tell({ type: 'kept' });
    });
  }

  function cancel(): void {
    state = 'cancelling';
    later('the CANCEL is answered', () => {
      if (state !== 'cancelling') return;
      const found = random();
      if (found < 0.7) end({ kind: 'cancelled', by: 'us', sipStatus: 487 });
      else if (found < 0.8) end({ kind: 'cancelled', by: 'us', sipStatus: 200 });
      else if (found < 0.9) end({ kind: 'rejected', sipStatus: 486 });
      else end({ kind: 'silence' });
    });
  }

  return {
    far,
    prepare: async (sound) => {
      if (far === 'caller') {
        const isOurs = await begin(0.05);
        if (!isOurs) {
          if (state !== 'ended') world.because('not_ours');
          return { why: 'not_ours', text: 'not ours' };
        }
      }
      try {
        await sound.open();
      } catch (error) {
        if (state !== 'ended' && far === 'caller') world.because('far_unusable');
        return { why: 'no_room', text: (error as Error).message };
      }
      // Its sound is told where to go.
      if (far === 'caller') await new Promise<void>((resolve) => later('it is prepared', resolve));
      if (random() > 0.08) return undefined;
      const isFault = random() < 0.4;
      if (state !== 'ended' && far === 'caller') world.because(isFault ? 'not_ours' : 'far_unusable');
      if (isFault) throw new Error('nobody has thought of it');
      return { why: 'unusable', text: 'unusable' };
    },
    connect: () => {
      if (far === 'callee') {
        state = 'placing';
        return place();
      }
      if (state === 'ended') return;
      if (random() < 0.05) {
        world.because('given_up');
        return tell({ type: 'given_up' });
      }
      state = 'unacknowledged';
    },
    agree: async () => {
      const isUsable = random() > 0.1;
      if (!isUsable) world.because('far_unusable');
      return isUsable;
    },
    end: (_as: Ending) => {
      isEndAsked = true;
      if (state === 'placing') end({ kind: 'not_sent', why: 'cancelled', text: 'cancelled' });
      else if (state === 'sent') cancel();
      else if (state === 'rings') endSoon({ kind: 'rejected', sipStatus: 480 });
      else if (state === 'answered') end({ kind: 'hung_up', by: 'us' });
      else if (state === 'unacknowledged') later('the BYE is answered', () => end({ kind: 'hung_up', by: 'us' }));
    },
    keepTimes: async () => {},
    keepEnd: async () => {
      if (await begun) open.rows -= 1;
    },
    sendDigits: async () => ({ isSent: true }),
    wire: () => ({}),
    acts: () => {
      const answers = () => {
        state = 'answered';
        wasAnswered = true;
        tell({ type: 'answered' });
      };
      const rejects = () => end({ kind: 'rejected', sipStatus: Number(oneOf(...Object.keys(statuses))) });
      const rangTooLong = () => end({ kind: 'cancelled', by: 'ring_timeout', sipStatus: 487 });
      const press = () => {
        if (!world.isEnding()) world.counts.pressed += 1;
        tell({ type: 'digit', digit: '5' });
      };
      const unsent = () => end({ kind: 'not_sent', why: oneOf<NotSent>('not_kept', 'fault'), text: 'not sent' });
      if (state === 'sent')
        return [
          { name: 'it is trying', run: () => tell({ type: 'progress', rings: false }), weight: 0.5 },
          { name: 'it rings', run: () => tell({ type: 'progress', rings: true }), weight: 1 },
          { name: 'it rings again', run: () => tell({ type: 'progress', rings: true }), weight: 0.3 },
          { name: 'it answers', run: answers, weight: 1.5 },
          { name: 'it rejects', run: rejects, weight: 0.2 },
          { name: 'it rang too long', run: rangTooLong, weight: 0.1 },
          { name: 'it is silent', run: () => end({ kind: 'silence' }), weight: 0.1 },
          { name: 'its answer to a challenge does not leave', run: unsent, weight: 0.1 },
        ];
      if (state === 'rings')
        return [
          { name: 'it cancels', run: () => endSoon({ kind: 'cancelled', by: 'far', sipStatus: 487 }), weight: 0.3 },
        ];
      if (state === 'unacknowledged')
        return [
          { name: 'it acknowledges', run: answers, weight: 1.5 },
          { name: 'no ACK comes', run: () => end({ kind: 'lost', sipReason: 'no ACK' }), weight: 0.2 },
        ];
      if (state === 'answered')
        return [
          { name: 'it hangs up', run: () => end({ kind: 'hung_up', by: 'far' }), weight: 0.15 },
          { name: 'it is lost', run: () => end({ kind: 'lost', sipReason: 'gone' }), weight: 0.05 },
          { name: 'it presses 5', run: press, weight: 0.3 },
        ];
      return [];
    },
    stop: () => {
      if (state === 'placing') end({ kind: 'not_sent', why: 'cancelled', text: 'stopped' });
      else if (state === 'sent' || state === 'cancelling') end({ kind: 'cancelled', by: 'us' });
      else if (state === 'rings') endSoon({ kind: 'rejected', sipStatus: 480 });
      else if (state === 'answered' || state === 'unacknowledged') end({ kind: 'hung_up', by: 'us' });
    },
    ended: () => ended,
    wasAnswered: () => wasAnswered,
    isIdle: () => state === 'idle',
    isEndAsked: () => isEndAsked,
  };
}
