import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 500;

/** Reads again and again, until it is as wanted. Rejects once the signal aborts. */
export async function pollUntil<Value>(
  read: () => Promise<Value>,
  isDone: (value: Value) => boolean,
  { signal, onValue = () => {} }: { signal: AbortSignal; onValue?: (value: Value) => void },
): Promise<Value> {
  for (;;) {
    const value = await read();
    onValue(value);
    if (isDone(value)) return value;
    await sleep(EVERY_MS, undefined, { signal });
  }
}
