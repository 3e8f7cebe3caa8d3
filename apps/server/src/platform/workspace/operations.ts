import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Handlers, RequestContext } from '../../foundation/http/handler.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { tagged } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { ok, replayable } from '../../foundation/values/success.ts';
import { refuseWhileHeld } from '../installation/installation.ts';
import type { RestoreGuard } from '../installation/restore-guard.ts';
import { auditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { rotateInboundSecret } from './inbound-secret.ts';
import { changeWorkspace, lockWorkspace, readUsage, readWorkspace, type Usage, type WorkspaceRow } from './store.ts';
import { type HourDeps, updateWorkspace } from './update-workspace.ts';

/** What the log says of a workspace's kill switch. */
const SWITCHED = {
  'workspace.dialing_paused': 'dialing is paused by the kill switch',
  'workspace.dialing_resumed': 'dialing goes on after the kill switch',
};

export interface WorkspaceDeps extends HourDeps {
  database: Database;
  clock: Clock;
  secrets: Secrets;
  restoreGuard: Pick<RestoreGuard, 'tell' | 'doubts'>;
}

/** The operations of the tag "Workspace". */
export function workspaceOperations(deps: WorkspaceDeps) {
  const { database, clock } = deps;

  /** Changes the workspace and answers it. `act` answers the workspace, and what it has done, if anything. */
  const change = (
    context: RequestContext,
    act: (tx: WorkspaceTx, now: Date) => Promise<{ row: WorkspaceRow; action?: string | undefined }>,
  ) =>
    database.inWorkspace(context.workspaceId, async (tx) => {
      const now = clock.now();
      const { row, action } = await act(tx, now);
      const id = toId('ws', context.workspaceId);
      if (action) await audit(tx, auditOf(context)(action, 'workspace', id), now);
      if (action && action in SWITCHED) tx.note({ workspace: id }, SWITCHED[action as keyof typeof SWITCHED]);
      return tagged(ok(present(row, await readUsage(tx, now))), row);
    });

  return {
    getWorkspace: async (_input, context) => change(context, async (tx) => ({ row: await readWorkspace(tx) })),

    updateWorkspace: async ({ body, headers }, context) =>
      change(context, async (tx, now) => {
        const { row, changed } = await updateWorkspace(tx, body, { ...deps, now, ifMatch: headers['If-Match'] });
        if (body.trustedNumbers) {
          const entry = auditOf(context)('workspace.trusted_numbers_updated', 'workspace', toId('ws', row.id));
          await audit(tx, entry, now);
        }
        return { row, action: changed ? 'workspace.updated' : undefined };
      }),

    pauseDialing: async (_input, context) => {
      const since = deps.restoreGuard.doubts();
      const answer = await change(context, async (tx, now) => {
        const row = await lockWorkspace(tx);
        if (row.dialing_paused_at) return { row };
        return { row: await changeWorkspace(tx, { dialing_paused_at: now }, now), action: 'workspace.dialing_paused' };
      });
      const { workspaceId } = context;
      await deps.restoreGuard.tell([{ type: 'pause_dialing', workspaceId, at: clock.now().toISOString() }], since);
      return answer;
    },

    resumeDialing: async (_input, context) =>
      change(context, async (tx, now) => {
        const row = await lockWorkspace(tx);
        if (!row.dialing_paused_at) return { row };
        await refuseWhileHeld(tx);
        return {
          row: await changeWorkspace(tx, { dialing_paused_at: null }, now),
          action: 'workspace.dialing_resumed',
        };
      }),

    rotateInboundSecret: async ({ headers }, context) => {
      const asked = { idempotencyKey: headers['Idempotency-Key'], apiKeyId: context.key.id };
      const { made, replayed } = await rotateInboundSecret(deps, context.workspaceId, auditOf(context), asked);
      return replayable(ok(made), replayed);
    },
  } satisfies Partial<Handlers>;
}

function present(row: WorkspaceRow, usage: Usage): components['schemas']['Workspace'] {
  return {
    id: toId('ws', row.id),
    name: row.name,
    limits: {
      ...(row.max_concurrent_calls !== null && { maxConcurrentCalls: row.max_concurrent_calls }),
      ...(row.max_attempts_per_person_per_day !== null && {
        maxAttemptsPerPersonPerDay: row.max_attempts_per_person_per_day,
      }),
      ...(row.max_attempts_per_person !== null && { maxAttemptsPerPerson: row.max_attempts_per_person }),
      ...(row.max_calls_per_day !== null && { maxCallsPerDay: row.max_calls_per_day }),
      premiumRateAllowed: row.premium_rate_allowed,
      ...(row.max_numbers_per_day !== null && { maxNumbersPerDay: row.max_numbers_per_day }),
      ...(row.allowed_countries !== null && { allowedCountries: row.allowed_countries }),
    },
    ...(row.quiet_hours_start !== null &&
      row.quiet_hours_end !== null && { quietHours: { start: row.quiet_hours_start, end: row.quiet_hours_end } }),
    quietHoursAreDefault: row.quiet_hours_are_default,
    ...(row.quiet_windows && { quietWindows: row.quiet_windows }),
    ...(row.holidays.length > 0 && { holidays: row.holidays }),
    ...(row.trusted_numbers.length > 0 && { trustedNumbers: row.trusted_numbers.map((number) => `+${number}`) }),
    eventFeed: row.event_feed,
    ...(row.dialing_paused_at && { dialingPausedAt: row.dialing_paused_at.toISOString() }),
    usage: { callsToday: usage.calls, numbersBoughtToday: usage.numbersBought, liveCalls: usage.liveCalls },
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
