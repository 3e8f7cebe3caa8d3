import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { components } from '@trunkline/client';
import { type FormEvent, type ReactNode, useState } from 'react';
import { AgentVariables } from '../parts/agent-variables.tsx';
import { Fault, Heading } from '../parts/heading.tsx';
import { timeOf } from '../parts/when.tsx';
import { spokenIn } from '../rules/variables.ts';
import { number, plain } from '../rules/words.ts';
import { client, useMay } from '../session.ts';

type Agent = components['schemas']['Agent'];

const route = getRouteApi('/agents/$agentId');

/** An agent: what it is told, whether it can be reached, and a way to hear it. */
export function AgentScreen() {
  const { agentId } = route.useParams();
  const may = useMay();
  const { data: agent, error } = useQuery({
    queryKey: ['agent', agentId],
    queryFn: () => client.agents.get(agentId),
  });
  if (!agent) return <Fault error={error} />;
  return (
    <>
      <Heading title={agent.name}>
        {may('agents:write') && (
          <a href={`/talk?agent=${agent.id}`} target="_blank" rel="noreferrer" className="button no-underline">
            Talk to it
          </a>
        )}
      </Heading>
      <State agent={agent} />
      <div className="grid border-t border-rule lg:grid-cols-[3fr_2fr]">
        <div className="px-4 py-3 lg:border-r lg:border-line">
          {may('agents:write') ? <AgentForm key={agent.id} agent={agent} /> : <Told agent={agent} />}
        </div>
        <section className="border-line px-4 py-3 max-lg:border-t">
          <h2>How it is reached</h2>
          <Facts agent={agent} />
        </section>
      </div>
    </>
  );
}

/** Whether it works, and a try to reach it. */
function State({ agent }: { agent: Agent }) {
  const may = useMay();
  const cache = useQueryClient();
  const tried = useMutation({
    mutationFn: () => client.agents.test(agent.id),
    onSuccess: () => cache.invalidateQueries({ queryKey: ['agent', agent.id] }),
  });
  const { failing } = agent;
  return (
    <div className="px-4 pb-3">
      <p role="status" className={`text-head ${failing || tried.data?.reachable === false ? 'text-signal' : ''}`}>
        {failing && `Nobody is called for it since ${timeOf(failing.since)}: ${plain(failing.reason)}. `}
        {tried.isPending ? 'Trying to reach it …' : tried.data?.message}
        {!failing && !tried.data && !tried.isPending && 'No fault is known.'}
      </p>
      <Fault error={tried.error} />
      {may('agents:write') && (
        <p className="mt-1 flex flex-wrap items-baseline gap-x-4">
          <button type="button" className="button" disabled={tried.isPending} onClick={() => tried.mutate()}>
            Test it
          </button>
          <span className="text-dim">
            It is connected to as by a call, for a moment. No phone rings. {failing && 'If it is reached, calls go on.'}
          </span>
        </p>
      )}
    </div>
  );
}

/** What it is told, for who may not change it. */
const Told = ({ agent: { instructions, firstMessage } }: { agent: Agent }) => (
  <>
    <h2>What it is told</h2>
    <p className="mt-1 break-words whitespace-pre-wrap">{instructions ?? 'Nothing: it knows by itself what to say.'}</p>
    {firstMessage && (
      <>
        <h2 className="mt-3">What it says first</h2>
        <p className="mt-1 break-words whitespace-pre-wrap">{firstMessage}</p>
      </>
    )}
  </>
);

function AgentForm({ agent }: { agent: Agent }) {
  const cache = useQueryClient();
  const [instructions, setInstructions] = useState(agent.instructions ?? '');
  const [firstMessage, setFirst] = useState(agent.firstMessage ?? '');
  const isModel = agent.connection.type === 'realtime';
  const spoken = spokenIn(instructions, firstMessage);
  const save = useMutation({
    mutationFn: (form: FormData) => {
      const most = (form.get('most') as string).trim();
      return client.agents.update(agent.id, {
        name: (form.get('name') as string).trim(),
        maxConcurrentCalls: most ? Number(most) : null,
        recording: form.has('recording'),
        ...(isModel && { instructions, firstMessage: firstMessage.trim() || null }),
      });
    },
    onSuccess: (now) => {
      cache.setQueryData(['agent', agent.id], now);
      cache.invalidateQueries({ queryKey: ['list', 'agents'] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate(new FormData(event.currentTarget));
  };
  return (
    <form onSubmit={submit} onChange={() => save.reset()} className="grid gap-3">
      <h2>What it is</h2>
      <Field id="name" label="Name">
        <input id="name" name="name" required maxLength={255} defaultValue={agent.name} className="block w-full" />
      </Field>
      {isModel && (
        <>
          <Field id="instructions" label="Instructions: what it is told to do, with {{variables}} of whom it talks to">
            <textarea
              id="instructions"
              rows={12}
              required
              maxLength={16384}
              value={instructions}
              onChange={(event) => setInstructions(event.target.value)}
              className="block w-full"
            />
          </Field>
          <Field id="first" label="First message: the words that it begins with; without them it finds its own">
            <textarea
              id="first"
              rows={2}
              maxLength={2048}
              value={firstMessage}
              onChange={(event) => setFirst(event.target.value)}
              className="block w-full"
            />
          </Field>
          <AgentVariables spoken={spoken} />
        </>
      )}
      <Field id="most" label="Calls at once, at most; empty: no limit">
        <input
          id="most"
          name="most"
          type="number"
          min={1}
          max={100000}
          defaultValue={agent.maxConcurrentCalls}
          className="block w-32"
        />
      </Field>
      <label className="flex items-center gap-2">
        <input type="checkbox" name="recording" className="min-h-0" defaultChecked={agent.recording} />
        Its calls are recorded
      </label>
      <p className="flex flex-wrap items-baseline gap-4">
        <button type="submit" className="button button-signal" disabled={save.isPending || spoken.loose !== undefined}>
          Save
        </button>
        <span role="status">{save.isSuccess && 'Saved. It holds for calls that begin from now on.'}</span>
      </p>
      <Fault error={save.error} />
    </form>
  );
}

const Field = ({ id, label, children }: { id: string; label: string; children: ReactNode }) => (
  <div>
    <label htmlFor={id} className="label block">
      {label}
    </label>
    {children}
  </div>
);

function Facts({ agent }: { agent: Agent }) {
  const { connection } = agent;
  const facts: [string, ReactNode][] = [
    ['Kind', plain(connection.type)],
    ...(connection.type === 'stream'
      ? ([
          ['Address', connection.url],
          ['Connected', connection.connectAt === 'ringing' ? 'while it rings' : 'at the answer'],
        ] as [string, ReactNode][])
      : []),
    ...(connection.type === 'realtime'
      ? ([
          ['Model', connection.model],
          ['Address', connection.url],
          ['Key', connection.hasApiKey ? 'kept' : 'none'],
          ['Voice', connection.voice ?? 'the model’s own'],
        ] as [string, ReactNode][])
      : []),
    ...(connection.type === 'script'
      ? ([
          ['Language', connection.language],
          ['Steps', number(connection.steps.length)],
        ] as [string, ReactNode][])
      : []),
    ['Can', agent.abilities?.map(plain).join(', ')],
    ['Knowledge', agent.knowledgeBaseIds.length > 0 && number(agent.knowledgeBaseIds.length)],
    ['ID', <code key="id">{agent.id}</code>],
    [
      'Its calls',
      <Link key="calls" to="/calls" search={{ agentId: agent.id }} className="link">
        show them
      </Link>,
    ],
  ];
  return (
    <dl className="mt-1">
      {facts
        .filter(([, value]) => value !== undefined && value !== false && value !== '')
        .map(([name, value]) => (
          <div key={name} className="cells grid-cols-[108px_minmax(0,1fr)] border-b border-line py-1">
            <dt className="text-dim">{name}</dt>
            <dd className="break-words">{value}</dd>
          </div>
        ))}
    </dl>
  );
}
