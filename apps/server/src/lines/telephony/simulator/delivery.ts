import type { CallEvent, CallEventListener } from '../call-gateway.ts';
import type { Faults } from './faults.ts';
import type { SimulatorTime } from './time.ts';
import { createTimeline } from './timeline.ts';

/** The way from calls to listeners, with the faults that happen on it. Closed at first. */
export interface Delivery {
  deliver(events: CallEvent[]): void;
  listen(listener: CallEventListener): () => void;
  open(): void;
  /** Forgets what is late; nothing comes until it is opened again. */
  close(): void;
}

/** A way whose faults are read anew with each event. */
export function createDelivery(time: SimulatorTime, faults: Faults): Delivery {
  const listeners = new Set<CallEventListener>();
  let isOpen = false;
  const hand = (events: CallEvent[]) => {
    if (!isOpen || events.length === 0) return;
    for (const listener of listeners) listener(events);
  };
  const late = createTimeline<CallEvent>(time, hand);

  return {
    deliver(events) {
      if (!isOpen) return;
      const { loseEvent, duplicateEvent, delayEvent } = faults;
      const prompt: CallEvent[] = [];
      const again: CallEvent[] = [];
      for (const event of events) {
        if (loseEvent?.(event)) continue;
        const delay = delayEvent?.(event) ?? 0;
        if (delay > 0) late.add(time.now().getTime() + delay, event);
        else prompt.push(event);
        if (duplicateEvent?.(event)) again.push(event);
      }
      hand(prompt);
      hand(again);
    },
    listen(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    open() {
      isOpen = true;
    },
    close() {
      isOpen = false;
      late.clear();
    },
  };
}
