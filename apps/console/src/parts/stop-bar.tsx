import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLink } from '../link.ts';
import { useHeld, useWorkspace } from '../live.tsx';
import { several } from '../rules/words.ts';
import { client, useMay, wordsOf } from '../session.ts';
import { HoldButton } from './hold-button.tsx';
import { timeOf } from './when.tsx';

/** On every screen: the search, whether anybody is called, who has stopped it and when, and the one hand that stops all. */
export function StopBar({ onSearch }: { onSearch: () => void }) {
  const { data: workspace } = useWorkspace();
  const may = useMay();
  const cache = useQueryClient();
  const stoppedAt = workspace?.dialingPausedAt;
  const is = useLink().lostAt === undefined ? 'is' : 'was';
  const held = useHeld(stoppedAt !== undefined);
  const change = useMutation({
    mutationFn: (stop: boolean) => (stop ? client.workspace.pauseDialing() : client.workspace.resumeDialing()),
    onSuccess: (now) => {
      cache.setQueryData(['workspace'], now);
      cache.invalidateQueries({ queryKey: ['who-stopped'] });
    },
  });
  const who = useWhoStopped(stoppedAt, may('audit_log:read'));
  return (
    <header
      className={`sticky top-0 z-20 border-b ${stoppedAt ? 'border-signal bg-signal text-on-signal' : 'border-rule bg-paper'}`}
    >
      <div className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1 px-4 py-1.5">
        <strong className="clip max-w-[40vw]">{workspace?.name ?? 'Trunkline'}</strong>
        <button
          type="button"
          aria-keyshortcuts="/ Control+K Meta+K"
          onClick={onSearch}
          className={`flex min-h-7 min-w-32 flex-1 cursor-text items-center justify-between gap-2 border px-2 sm:max-w-64 ${stoppedAt ? 'border-current' : 'border-line bg-raised text-dim'}`}
        >
          Search
          <kbd className="font-sans">/</kbd>
        </button>
        <p className="min-w-0 flex-1 basis-56">
          <span role="status">
            {stoppedAt && `All dialing ${is} stopped since ${timeOf(stoppedAt)}${who ? `, by ${who}` : ''}. `}
            {held && `${held}. `}
            {!stoppedAt && workspace && `Dialing ${is} on. `}
            {change.error && `${wordsOf(change.error)} `}
          </span>
          {/* It changes too often to be read out. */}
          {!stoppedAt && workspace && `${several(workspace.usage.liveCalls, 'call')} up.`}
        </p>
        {may('campaigns:run') && workspace && (
          <HoldButton
            className={stoppedAt ? 'border-current' : 'button-signal'}
            holding={stoppedAt ? 'Keep holding to go on' : 'Keep holding to stop'}
            onHeld={() => change.mutate(!stoppedAt)}
          >
            {stoppedAt ? 'Hold to let dialing go on' : 'Hold to stop all dialing'}
          </HoldButton>
        )}
      </div>
      <LostBar />
    </header>
  );
}

/** Said as soon as it is noticed that the server is away; it goes by itself. */
function LostBar() {
  const { lostAt } = useLink();
  return (
    <div role="alert">
      {lostAt !== undefined && (
        <p className="border-t border-current bg-ink px-4 py-1.5 text-paper">
          The server has not answered since {timeOf(new Date(lostAt).toISOString())}. What is shown is as it was then.
          This page goes on by itself once the server is back.
        </p>
      )}
    </div>
  );
}

/** Who stopped dialing: a member, or a key by its name, as the audit log has it. */
function useWhoStopped(stoppedAt: string | undefined, isAllowed: boolean): string | undefined {
  const { data } = useQuery({
    queryKey: ['who-stopped', stoppedAt],
    enabled: isAllowed && stoppedAt !== undefined,
    queryFn: async () => {
      const { items } = await client.auditLog.list({ action: 'workspace.dialing_paused', perPage: 1 });
      return items[0]?.memberEmail ?? items[0]?.memberId ?? items[0]?.apiKeyName ?? null;
    },
  });
  return data ?? undefined;
}
