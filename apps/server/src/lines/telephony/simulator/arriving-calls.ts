import { randomUUID } from 'node:crypto';
import type { CallRequest, InboundCall } from '../call-gateway.ts';
import { CALLS_BACK_AFTER } from './plan.ts';
import type { SimulatorTime } from './time.ts';

/** The calls that arrive in this process. Closed at first: none arrives. */
export interface ArrivingCalls {
  /** Has a call arrive at one of our numbers. */
  ring(call: Pick<InboundCall, 'to' | 'from' | 'workspaceId'>): void;
  /** Rings back once a call is over; a process that ends meanwhile takes that along. */
  ringBack(call: CallRequest): void;
  listen(listener: (call: InboundCall) => void): () => void;
  open(): void;
  /** Takes back what was to ring. */
  close(): void;
}

/** @param speed divides the time until somebody calls back */
export function createArrivingCalls(time: SimulatorTime, speed: number): ArrivingCalls {
  const listeners = new Set<(call: InboundCall) => void>();
  const pending = new Set<() => void>();
  let isOpen = false;
  const ring: ArrivingCalls['ring'] = (rung) => {
    if (!isOpen) return;
    const call = { ...rung, providerCallId: randomUUID(), at: time.now() };
    for (const listener of listeners) listener(call);
  };
  return {
    ring,
    ringBack({ to, from, workspaceId }) {
      const cancel = time.wakeAt(time.now().getTime() + CALLS_BACK_AFTER / speed, () => {
        pending.delete(cancel);
        ring({ to: from, from: to, workspaceId });
      });
      pending.add(cancel);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    open() {
      isOpen = true;
    },
    close() {
      isOpen = false;
      for (const cancel of pending) cancel();
      pending.clear();
    },
  };
}
