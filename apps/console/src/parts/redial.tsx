import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { REDIALLED, redialSays } from '../rules/redial.ts';
import { type Campaign, number, outcomeWords } from '../rules/words.ts';
import { client } from '../session.ts';
import { Answer, Asked } from './asked.tsx';
import { Fault } from './heading.tsx';

const NOT_REACHED: string[] = ['no_answer', 'busy', 'voicemail'];

/** Calls those again who were not reached: a dry run counts them, and who starts it types that count. */
export const Redial = ({ campaign }: { campaign: Campaign }) => (
  <Asked name="Call again…" title={`Call again who was not reached by “${campaign.name}”`}>
    {(close) => <Choose campaign={campaign} close={close} />}
  </Asked>
);

function Choose({ campaign, close }: { campaign: Campaign; close: () => void }) {
  const { id, status } = campaign;
  const [chosen, setChosen] = useState(NOT_REACHED);
  // An answer that was lost is asked for again, and calls nobody twice.
  const [idempotencyKey] = useState(() => `console ${crypto.randomUUID()}`);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { data, error } = useQuery({
    queryKey: ['redial', id],
    staleTime: 0,
    queryFn: () => client.campaigns.redialContacts(id, { outcomes: [...REDIALLED], dryRun: true }),
  });
  if (!data) return error ? <Fault error={error} /> : <p className="mt-2">Looking who was not reached …</p>;
  const counts = data.outcomes as Record<string, number>;
  const offered = REDIALLED.filter((outcome) => counts[outcome]);
  const outcomes = offered.filter((outcome) => chosen.includes(outcome));
  const people = outcomes.reduce((sum, outcome) => sum + counts[outcome]!, 0);
  const { says, does, isDraft } = redialSays(status, people);
  const redial = async () => {
    const { campaign: now } = await client.campaigns.redialContacts(id, { outcomes }, { idempotencyKey });
    for (const key of ['stats', 'contacts']) cache.invalidateQueries({ queryKey: [key, id] });
    if (now && now.id !== id) navigate({ to: '/campaigns/$campaignId', params: { campaignId: now.id }, search: {} });
  };
  return (
    <Answer does={does} close={close} onDo={redial} isOff={people === 0} count={isDraft ? undefined : people}>
      {offered.length === 0 && (
        <p>Nobody is left who could be called again: each was reached, left out, or taken already.</p>
      )}
      <fieldset>
        <legend className="sr-only">Whose last call ended so</legend>
        {offered.map((outcome) => (
          <label key={outcome} className="flex items-center gap-2 border-b border-line py-1">
            <input
              type="checkbox"
              className="min-h-0"
              checked={chosen.includes(outcome)}
              onChange={({ target }) =>
                setChosen(target.checked ? [...chosen, outcome] : chosen.filter((each) => each !== outcome))
              }
            />
            <span className="flex-1">{outcomeWords[outcome]}</span>
            <span>{number(counts[outcome]!)}</span>
          </label>
        ))}
      </fieldset>
      {outcomes.includes('unknown') && (
        <p className="mt-2 text-signal">
          Of these {number(counts['unknown']!)} nobody knows whether it rang. They may have been reached, and would be
          called a second time.
        </p>
      )}
      <p className="mt-2">{says}</p>
    </Answer>
  );
}
