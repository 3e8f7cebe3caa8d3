import type { Logger } from 'pino';
import { toId } from '../../foundation/values/ids.ts';
import type { CallOutcome } from '../../lines/telephony/call-outcome.ts';
import type { EndedCall } from './call.ts';

/** Ends that neither the callee nor whoever asked for the call is the cause of. */
const FAILURES = new Set<CallOutcome>(['trunk_error', 'agent_error', 'unknown']);

/** Says in the log which of some calls have failed: a line each. */
export function tellOfFailures(log: Logger, ended: readonly EndedCall[]): void {
  for (const { workspaceId, roomId, campaignId, outcome } of ended) {
    if (!FAILURES.has(outcome)) continue;
    const campaign = campaignId && { campaign: toId('cmp', campaignId) };
    log.info(
      { workspace: toId('ws', workspaceId), call: toId('room', roomId), ...campaign, outcome },
      'a call has failed',
    );
  }
}
