import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type Campaign, several } from '../rules/words.ts';
import { client, useMay, wordsOf } from '../session.ts';
import { StartByCount } from './start-by-count.tsx';

/** What can be done with the campaign as it is now, for who may. */
export function CampaignActions({ campaign, left }: { campaign: Campaign; left: number }) {
  const may = useMay();
  const cache = useQueryClient();
  const { id, status } = campaign;
  const change = useMutation({
    mutationFn: (how: 'pause' | 'resume' | 'stop' | 'cancel' | 'unschedule') => client.campaigns[how](id),
    onSuccess: (now) => {
      cache.setQueryData(['campaign', id], now);
      for (const key of ['stats', 'contacts']) cache.invalidateQueries({ queryKey: [key, id] });
    },
  });
  if (!may('campaigns:run')) return null;
  return (
    <>
      {change.error && <p className="self-center text-signal">{wordsOf(change.error)}</p>}
      {status === 'running' && <Action onDo={() => change.mutate('pause')}>Pause</Action>}
      {status === 'paused' && <Action onDo={() => change.mutate('resume')}>Resume</Action>}
      {(status === 'running' || status === 'paused') && (
        <Confirmed
          name="Stop for good"
          title={`Stop “${campaign.name}” for good?`}
          says={`${several(left, 'contact')} will not be called any more. Calls that are up finish. It can’t be started again; to go on later, pause it.`}
          onDo={() => change.mutate('stop')}
        />
      )}
      {status === 'draft' && <Start campaign={campaign} />}
      {status === 'scheduled' && <Action onDo={() => change.mutate('unschedule')}>Make it a draft</Action>}
      {(status === 'draft' || status === 'scheduled') && (
        <Confirmed
          name="Cancel"
          title={`Cancel “${campaign.name}”?`}
          says="It has called nobody, and will call nobody."
          onDo={() => change.mutate('cancel')}
        />
      )}
    </>
  );
}

const Action = ({ children, onDo }: { children: ReactNode; onDo: () => void }) => (
  <button type="button" className="button" onClick={onDo}>
    {children}
  </button>
);

const popup =
  'fixed top-[20vh] left-1/2 z-40 w-[min(92vw,480px)] -translate-x-1/2 border border-rule bg-raised p-4 outline-none';

function Confirmed({ name, title, says, onDo }: { name: string; title: string; says: string; onDo: () => void }) {
  return (
    <AlertDialog.Root>
      <AlertDialog.Trigger className="button">{name}</AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-30 bg-ink opacity-30" />
        <AlertDialog.Popup className={popup}>
          <AlertDialog.Title className="text-head break-words">{title}</AlertDialog.Title>
          <AlertDialog.Description className="mt-2">{says}</AlertDialog.Description>
          <div className="mt-4 flex justify-end gap-2">
            <AlertDialog.Close className="button">Leave it</AlertDialog.Close>
            <AlertDialog.Close className="button button-signal" onClick={onDo}>
              {name}
            </AlertDialog.Close>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** A draft starts once who starts it has typed how many people it calls. */
function Start({ campaign }: { campaign: Campaign }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={setOpen}>
      <AlertDialog.Trigger className="button button-signal">Start…</AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-30 bg-ink opacity-30" />
        <AlertDialog.Popup className={popup}>
          <AlertDialog.Title className="text-head break-words">Start “{campaign.name}”</AlertDialog.Title>
          <StartByCount campaign={campaign} onDone={() => setOpen(false)} />
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
