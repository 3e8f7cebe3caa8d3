import { setTimeout as sleep } from 'node:timers/promises';

/** Between two looks: longer the longer it takes, as a look costs the machine as much as what is waited for. */
const pauseMs = (waitedMs: number) => Math.min(20 + waitedMs / 20, 100);

/**
 * Waits until a check holds: until it neither throws, as an `expect` does, nor answers false. Throws what it was that
 * still did not hold.
 * @param check a query or two
 * @param seconds A machine that stalls for a lease costs a campaign 10 s and more; where it holds, nobody waits.
 */
export async function until(check: () => unknown, seconds = 150): Promise<void> {
  const begin = performance.now();
  const end = begin + seconds * 1000;
  for (;;) {
    const fault = await faultOf(check);
    if (!fault) return;
    if (performance.now() > end)
      throw new Error(`It did not come true in ${seconds} s. ${fault.message}`, { cause: fault });
    await sleep(pauseMs(performance.now() - begin));
  }
}

async function faultOf(check: () => unknown): Promise<Error | undefined> {
  try {
    return (await check()) === false ? new Error('The check still answers false.') : undefined;
  } catch (error) {
    return error as Error;
  }
}
