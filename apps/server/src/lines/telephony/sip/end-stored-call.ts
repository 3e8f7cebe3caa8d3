import type { UserAgent } from '@trunkline/sip';
import { outcomeOfAnswer } from '../outcomes.ts';
import type { Trunk } from '../trunk.ts';
import type { CallEnded, StoredCall } from './call-store.ts';
import { credentialsOf } from './trunk-address.ts';

/**
 * Ends a call whose server is gone, by CANCEL or BYE, and says what is honest to say of it: nothing that makes anybody
 * dial it again, unless the callee's own answer does.
 * @param trunk over which it was placed: it may challenge the BYE
 */
export async function endStoredCall(
  userAgent: Pick<UserAgent, 'endStored'>,
  { roomId, workspaceId, dialog, answeredAt }: StoredCall,
  at: Date,
  trunk: Trunk | undefined,
): Promise<CallEnded> {
  const ended = (outcome: CallEnded['outcome'], sipStatus?: number): CallEnded => ({
    roomId,
    at,
    type: 'ended',
    outcome,
    // A call that is cancelled by a fault of ours was never placed, and doesn't count as an attempt: this one rang.
    endedBy: outcome === 'cancelled' ? 'service' : 'error',
    ...(sipStatus !== undefined && { sipStatus }),
  });
  const wasAnswered = answeredAt !== undefined || dialog?.phase === 'answered';
  if (!dialog) return ended(wasAnswered ? 'answered' : 'unknown');
  const end = await userAgent.endStored(dialog, { ...(trunk && credentialsOf(trunk)), asker: workspaceId });
  if (wasAnswered) return ended('answered');
  if (end.kind !== 'cancelled') return ended('unknown');
  return end.status === undefined ? ended('cancelled') : ended(outcomeOfAnswer({ sipStatus: end.status }), end.status);
}
