import type { OwnedCall } from '../../../src/dialing/calls/call.ts';
import type { CallToPlace } from '../../../src/dialing/calls/place-calls.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { type Given, seedRow } from '../../seed/rows.ts';

/** Makes calls that a server has claimed. What is given is in the row alone: it has come since. */
export const queuedCalls =
  (database: Database, { workspaceId, serverId, startAt }: { workspaceId: string; serverId: string; startAt: Date }) =>
  async (toNumber: number, owned: Partial<OwnedCall>, given: Given<'calls'> = {}): Promise<CallToPlace> => {
    const { campaignId = null, owner = { kind: 'contact', id: newUuid() } } = owned;
    const placeBefore = new Date(startAt.getTime() + 20_000);
    const own = {
      campaign_id: campaignId,
      owner_kind: owner.kind,
      owner_id: owner.id,
      workspace_id: workspaceId,
      to_number: toNumber,
      server_id: serverId,
    };
    const row = await seedRow(database, 'calls', { ...own, status: 'queued', place_before: placeBefore, ...given });
    const request = { owner, roomId: row.id, attempt: 1, to: `+${toNumber}`, from: '+14155550100', agentId: 'agent' };
    return {
      workspaceId,
      roomId: row.id,
      campaignId,
      owner,
      toNumber,
      fromNumber: 14155550100,
      provider: 'simulator',
      attempt: 1,
      startAt,
      placeBefore,
      trunkId: null,
      request: { ...request, workspaceId, ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, variables: {} },
    };
  };
