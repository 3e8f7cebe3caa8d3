import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../values/service-error.ts';
import type { Exchange } from './exchange.ts';
import { createPace } from './pace.ts';
import { isComing } from './request-body.ts';

/** A refusal for its rate costs some 0.1 ms: a workspace that asks on without a pause gets 200 a second. */
const [REFUSALS_AT_ONCE, REFUSAL_APART_MS, LONGEST_REFUSAL_MS] = [50, 5, 2000];

/**
 * What is left unread of a refused body costs the machine, too: of it a workspace has 16 MiB at once and 4 in a second, and
 * waits for its answer beyond that.
 */
const [UNREAD_AT_ONCE, UNREAD_A_MS, LONGEST_UNREAD_MS] = [16 * 1024 * 1024, 4096, 2000];

/** Resolves when a request may be told that it is refused: who asks for that on and on waits. */
export type RefusalTurn = (exchange: Exchange, error: unknown) => Promise<void>;

/** @param largestBody bytes that any request may have: what is told beyond that is never sent */
export function createRefusalTurns(largestBody: number): RefusalTurn {
  const pace = createPace(REFUSALS_AT_ONCE * REFUSAL_APART_MS, LONGEST_REFUSAL_MS);
  const unreadPace = createPace(UNREAD_AT_ONCE / UNREAD_A_MS, LONGEST_UNREAD_MS);
  return async ({ request, workspaceId }, error) => {
    // A body that came together with the headers is there by then, and its connection can stay open.
    if (isComing(request)) await nextTurn();
    if (isComing(request)) {
      const told = Number(request.headers['content-length'] ?? largestBody);
      const ms = unreadPace(workspaceId, Math.min(told, largestBody) / UNREAD_A_MS);
      if (ms > 0) await sleep(ms);
    }
    if (error instanceof ServiceError && error.code === 'rate_limited')
      await sleep(pace(workspaceId, REFUSAL_APART_MS));
  };
}
