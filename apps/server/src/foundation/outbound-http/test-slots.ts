import type { Registry } from 'prom-client';
import { measureSlots } from '../observe/slot-metrics.ts';
import { Shares } from '../values/limiter.ts';
import { ServiceError } from '../values/service-error.ts';

/** How many tests of webhooks and agents are under way at a time; one workspace alone has half of them. */
const MOST_TESTS = 128;

/**
 * Tests an address that a customer gave, where its workspace may have another test under way: each holds a connection for as
 * long as who is tested is silent. Throws `rate_limited` where the workspace has its share, `unavailable` where this process
 * has no room, and what the test throws.
 */
export type InTestSlot = <T>(workspaceId: string, test: () => Promise<T>) => Promise<T>;

/** The slots of this process for tests of webhooks and agents. */
export function createTestSlots(registry: Registry): InTestSlot {
  const slots = new Shares(MOST_TESTS);
  measureSlots(registry, 'connection_tests', slots);
  return async (workspaceId, test) => {
    if (!slots.take(workspaceId)) throw slots.held(workspaceId) > 0 ? tooMany() : full();
    return test().finally(() => slots.giveBack(workspaceId));
  };
}

const options = { headers: { 'Retry-After': '5' } };
const full = () => new ServiceError('unavailable', 'The server has no room for more tests now.', options);
const tooMany = () =>
  new ServiceError(
    'rate_limited',
    'This workspace has as many tests of webhooks and agents under way as it can have now. Wait for one to end.',
    options,
  );
