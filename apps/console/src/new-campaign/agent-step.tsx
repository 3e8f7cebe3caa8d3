import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ConflictError, NotFoundError } from '@trunkline/client';
import { type FormEvent, useState } from 'react';
import { Fault } from '../parts/heading.tsx';
import type { ContactList } from '../rules/files.ts';
import { stepAfter } from '../rules/steps.ts';
import { type Campaign, number, plain } from '../rules/words.ts';
import { client, useMay } from '../session.ts';
import { useCampaignsOf } from './data.tsx';
import { Scrolled } from './scrolled.tsx';
import { Wrong } from './step.tsx';

const ELSEWHERE = 'elsewhere';
const NEEDED_ELSEWHERE: readonly unknown[] = ['no_outbound_agent'];

interface AgentStepProps {
  list: ContactList;
  draft: Campaign | undefined;
  /** How many campaigns of the list there are: the draft that is made is the next one, however often it is asked for. */
  count: number;
}

/** Who speaks, and from which number: with these the campaign becomes a draft, or its draft is changed. */
export function AgentStep({ list, draft, count }: AgentStepProps) {
  const [name, setName] = useState(draft?.name ?? list.name);
  const [agentId, setAgentId] = useState(draft?.agentId ?? '');
  const [from, setFrom] = useState(draft?.fromNumber ?? draft?.numberPoolId ?? '');
  const save = useSave(list, draft, count);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ name, agentId, ...(from.startsWith('pool_') ? { numberPoolId: from } : { fromNumber: from }) });
  };
  return (
    <form onSubmit={submit} className="grid gap-5">
      <label className="block">
        <span className="label block">Name of the campaign</span>
        <input
          className="w-full max-w-md"
          required
          maxLength={255}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <Agents chosen={agentId} onChoose={setAgentId} />
      <Callers chosen={from} onChoose={setFrom} />
      <div>
        <button
          type="submit"
          className="button button-signal"
          disabled={save.isPending || agentId === '' || from === ''}
        >
          {draft ? 'Save, and go on' : 'Make the draft, and go on'}
        </button>
        <p className="label mt-1">A draft calls nobody.</p>
        <Wrong error={save.error} />
      </div>
    </form>
  );
}

type Fields = { name: string; agentId: string } & ({ fromNumber: string } | { numberPoolId: string });

function useSave(list: ContactList, draft: Campaign | undefined, count: number) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const may = useMay();
  const { refetch } = useCampaignsOf(list.id);
  return useMutation({
    mutationFn: async (fields: Fields) => {
      if (draft) return client.campaigns.update(draft.id, fields);
      const lists: [{ id: string; role: 'contacts' }] = [{ id: list.id, role: 'contacts' }];
      const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
      const create = (idempotencyKey: string) =>
        client.campaigns.create({ ...fields, lists, timezone }, { idempotencyKey });
      try {
        return await create(`console ${list.id} ${count}`);
      } catch (error) {
        if (!(error instanceof ConflictError || error instanceof NotFoundError)) throw error;
        // It was made before, otherwise, or has been deleted since: in another window, or by an answer that was lost.
        const made = (await refetch()).data?.draft;
        if (!made) return create(`console ${crypto.randomUUID()}`);
        throw new Error(`A draft of this list was made meanwhile: “${made.name}”. Saving now replaces what it says.`);
      }
    },
    onSuccess: async (campaign) => {
      cache.setQueryData(['campaign', campaign.id], campaign);
      for (const key of ['campaigns', 'preview']) cache.invalidateQueries({ queryKey: [key] });
      await refetch();
      await navigate({
        to: '/campaigns/new/$contactListId',
        params: { contactListId: list.id },
        search: { step: stepAfter('agent', may) },
      });
    },
  });
}

interface Choosing {
  chosen: string;
  onChoose: (id: string) => void;
}

/** The agents, each with what it is and a way to hear it. */
function Agents({ chosen, onChoose }: Choosing) {
  const may = useMay();
  const { data, error } = useQuery({
    queryKey: ['agents'],
    enabled: may('agents:read'),
    queryFn: () => client.agents.list({ perPage: 100 }),
  });
  const agents = data?.items ?? [];
  const isKept = agents.some(({ id }) => id === chosen);
  const [isElsewhere, setElsewhere] = useState(chosen !== '' && !isKept);
  const other = isElsewhere && !isKept;
  return (
    <fieldset>
      <legend className="font-semibold">Who speaks</legend>
      <Fault error={error} />
      {data && agents.length === 0 && (
        <p className="max-w-prose">
          No agent is kept here yet.{' '}
          <a href="/docs/guides/agents" className="link">
            How one is made
          </a>
          ; or name one that is known elsewhere.
        </p>
      )}
      {agents.length > 0 && (
        <Scrolled name="Agents">
          <thead className="label">
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">Says first</th>
              <th scope="col">State</th>
              <th scope="col">Hear it</th>
            </tr>
          </thead>
          <tbody>
            {agents.map((agent) => (
              <tr key={agent.id} className={agent.id === chosen ? 'bg-night' : ''}>
                <td>
                  <label className="flex cursor-pointer items-center gap-2">
                    <input
                      type="radio"
                      name="agent"
                      className="min-h-0 accent-signal"
                      checked={agent.id === chosen}
                      onChange={() => {
                        setElsewhere(false);
                        onChoose(agent.id);
                      }}
                    />
                    {agent.name}
                  </label>
                </td>
                <td className="max-w-80 text-dim">{agent.firstMessage ?? agent.connection.type}</td>
                <td>
                  {agent.failing ? (
                    <strong className="text-signal">fails: {plain(agent.failing.reason)}</strong>
                  ) : (
                    'no fault known'
                  )}
                </td>
                <td className="whitespace-nowrap">
                  {may('agents:write') ? (
                    <a href={`/talk?agent=${agent.id}`} target="_blank" rel="noreferrer" className="link">
                      Talk to {agent.name}
                    </a>
                  ) : (
                    <span className="text-dim">by the test call</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </Scrolled>
      )}
      <label className="mt-2 flex flex-wrap items-center gap-2">
        <input
          type="radio"
          name="agent"
          className="min-h-0 accent-signal"
          checked={other}
          value={ELSEWHERE}
          onChange={() => {
            setElsewhere(true);
            onChoose('');
          }}
        />
        One that is known elsewhere, by its ID
        {other && (
          <input
            aria-label="ID of the agent"
            required
            maxLength={128}
            pattern="[A-Za-z0-9][A-Za-z0-9_.:\-]*"
            placeholder="agent_reception"
            value={chosen}
            onChange={(event) => onChoose(event.target.value.trim())}
          />
        )}
      </label>
    </fieldset>
  );
}

/** The numbers and pools from which can be called. */
function Callers({ chosen, onChoose }: Choosing) {
  const may = useMay();
  const { data: numbers, error } = useQuery({
    queryKey: ['phone-numbers'],
    enabled: may('phone_numbers:read'),
    queryFn: () => client.phoneNumbers.list({ perPage: 100 }),
  });
  const { data: pools } = useQuery({
    queryKey: ['number-pools'],
    enabled: may('number_pools:read'),
    queryFn: () => client.numberPools.list({ perPage: 100 }),
  });
  const isNone = numbers?.items.length === 0;
  return (
    <div>
      <label className="block">
        <span className="block font-semibold">The number that they see</span>
        <select className="mt-1 max-w-full" required value={chosen} onChange={(event) => onChoose(event.target.value)}>
          <option value="">choose one</option>
          <optgroup label="One number">
            {numbers?.items.map((each) => (
              <option key={each.id} value={each.phoneNumber}>
                {[each.phoneNumber, each.friendlyName ?? each.label, faultOf(each)].filter(Boolean).join(' – ')}
              </option>
            ))}
          </optgroup>
          {pools && pools.items.length > 0 && (
            <optgroup label="The numbers of a pool, in turn">
              {pools.items.map(({ id, name, count }) => (
                <option key={id} value={id}>
                  {name} – {number(count)} numbers
                </option>
              ))}
            </optgroup>
          )}
        </select>
      </label>
      <Fault error={error} />
      {isNone && (
        <p className="mt-1 max-w-prose">
          There is no number to call from yet. Whoever runs this workspace{' '}
          <a href="/docs/guides/phone-numbers" className="link">
            buys or imports one
          </a>
          ; then it stands here.
        </p>
      )}
    </div>
  );
}

interface Caller {
  status: string;
  provider: string;
  outboundReason?: string;
}

/** Why a number can't call, or that its calls ring nobody. The agent is the campaign's. */
function faultOf({ status, provider, outboundReason }: Caller): string {
  if (status !== 'active') return plain(status);
  if (outboundReason !== undefined && !NEEDED_ELSEWHERE.includes(outboundReason)) return plain(outboundReason);
  return provider === 'simulator' ? 'simulated: no telephone rings' : '';
}
