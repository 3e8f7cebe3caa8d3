import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { canRedial } from '../rules/redial.ts';
import { type Campaign, several } from '../rules/words.ts';
import { client, useMay, wordsOf } from '../session.ts';
import { Asked, Confirmed } from './asked.tsx';
import { Redial } from './redial.tsx';
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
          onDo={() => change.mutateAsync('stop')}
        />
      )}
      {canRedial(status) && <Redial campaign={campaign} />}
      {status === 'draft' && <Start campaign={campaign} />}
      {status === 'scheduled' && <Action onDo={() => change.mutate('unschedule')}>Make it a draft</Action>}
      {(status === 'draft' || status === 'scheduled') && (
        <Confirmed
          name="Cancel"
          title={`Cancel “${campaign.name}”?`}
          says="It has called nobody, and will call nobody."
          onDo={() => change.mutateAsync('cancel')}
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

/** A draft starts once who starts it has typed how many people it calls. */
const Start = ({ campaign }: { campaign: Campaign }) => (
  <Asked name="Start…" title={`Start “${campaign.name}”`} className="button button-signal">
    {(close) => <StartByCount campaign={campaign} onDone={close} />}
  </Asked>
);
