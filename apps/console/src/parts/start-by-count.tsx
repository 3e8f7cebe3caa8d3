import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { clock } from '../rules/hours.ts';
import { type Campaign, number, reasonSays, several } from '../rules/words.ts';
import { client, wordsOf } from '../session.ts';

/** A dry run says who would be called; the campaign starts once that count is typed. */
export function StartByCount({ campaign, onDone }: { campaign: Campaign; onDone: () => void }) {
  const [typed, setTyped] = useState('');
  const cache = useQueryClient();
  const { data: preview, error } = useQuery({
    queryKey: ['preview', campaign.id],
    queryFn: () => client.campaigns.preview(campaign.id, { sampleSize: 1 }),
  });
  const start = useMutation({
    mutationFn: () => client.campaigns.start(campaign.id),
    onSuccess: (now) => {
      cache.setQueryData(['campaign', campaign.id], now);
      for (const key of ['stats', 'contacts', 'campaigns']) cache.invalidateQueries({ queryKey: [key] });
      onDone();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start.mutate();
  };
  if (!preview) return <p className="mt-2">{error ? wordsOf(error) : 'Looking who would be called …'}</p>;
  const { earliest, latest, earlyOrLate } = preview.localHours;
  return (
    <form onSubmit={submit} className="mt-2">
      <p>
        {several(preview.callable, 'person', 'people')} would be called
        {earliest !== undefined && `, between ${clock(earliest)} and ${clock(latest!)} by their own clocks`}.
        {earlyOrLate > 0 && ` ${number(earlyOrLate)} of them before 8:00 or after 21:00.`}
      </p>
      <ul className="mt-1 text-dim">
        {Object.entries(preview.leftOut).map(([reason, count]) => (
          <li key={reason}>
            {number(count as number)} left out: {reasonSays(reason)}
          </li>
        ))}
        {Object.entries(preview.missingVariables ?? {}).map(([name, count]) => (
          <li key={name}>
            {number(count as number)} have no {name}, which the agent says
          </li>
        ))}
      </ul>
      {preview.callable > 0 && (
        <label className="mt-3 block">
          Type {preview.callable} to start
          <input
            className="ms-2 w-28"
            inputMode="numeric"
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
      )}
      {start.error && <p className="mt-2 text-signal">{wordsOf(start.error)}</p>}
      <div className="mt-4 flex justify-end gap-2">
        <button type="button" className="button" onClick={onDone}>
          Not yet
        </button>
        <button
          type="submit"
          className="button button-signal"
          disabled={
            typed.replace(/[\s,]/g, '') !== String(preview.callable) || preview.callable === 0 || start.isPending
          }
        >
          Call {several(preview.callable, 'person', 'people')}
        </button>
      </div>
    </form>
  );
}
