import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useWorkspace } from '../live.tsx';
import { DayRail } from '../parts/day-rail.tsx';
import { Fault, Heading } from '../parts/heading.tsx';
import { nightsOf, windowSays } from '../rules/hours.ts';
import { changeOf, writtenOf } from '../rules/limits.ts';
import { number, type Workspace } from '../rules/words.ts';
import { client, useMay } from '../session.ts';

/** What holds for every call of the workspace: when nobody is called, how often, how many, and where. */
export function LimitsScreen() {
  const { data: workspace, error } = useWorkspace();
  const may = useMay();
  if (!workspace) return <Fault error={error} />;
  return (
    <>
      <Heading title="Limits and hours" />
      <div className="px-4 pb-3">
        <p className="max-w-prose text-dim">
          They hold for every campaign, batch and workflow, on top of its own. Used today, since midnight UTC:{' '}
          {number(workspace.usage.callsToday)} calls, {number(workspace.usage.numbersBoughtToday)} numbers bought.
        </p>
      </div>
      <div className="border-t border-rule px-4 py-2">
        <DayRail
          title={`When nobody is called, by the callee’s clock${workspace.quietHoursAreDefault ? ' (nobody has set it yet)' : ''}`}
          timezones={[Intl.DateTimeFormat().resolvedOptions().timeZone]}
          nights={nightsOf(workspace)}
        />
        {workspace.quietWindows && (
          <p className="label mt-1">Also quiet: {workspace.quietWindows.map(windowSays).join('; ')}</p>
        )}
      </div>
      <LimitsForm key={workspace.id} workspace={workspace} isMine={may('workspace:write')} />
    </>
  );
}

function LimitsForm({ workspace, isMine }: { workspace: Workspace; isMine: boolean }) {
  const cache = useQueryClient();
  const [before, setBefore] = useState(() => writtenOf(workspace));
  const [after, setAfter] = useState(before);
  const save = useMutation({
    mutationFn: async () => client.workspace.update(changeOf(before, after)),
    onSuccess: (now) => {
      cache.setQueryData(['workspace'], now);
      setBefore(writtenOf(now));
      setAfter(writtenOf(now));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const field = (name: string) => ({
    id: name,
    value: after[name] ?? '',
    onChange: (event: { target: { value: string } }) => {
      save.reset();
      setAfter({ ...after, [name]: event.target.value });
    },
  });
  const figure = (name: string) => <input type="number" min={0} className="w-28" {...field(name)} />;
  return (
    <form onSubmit={submit} className="border-t border-rule px-4 py-3">
      <fieldset disabled={!isMine} className="grid gap-x-8 md:grid-cols-2">
        <legend className="sr-only">Limits and hours</legend>
        <Row id="quietStart" says="Nobody is called from, by the callee’s clock">
          <input type="time" {...field('quietStart')} />
        </Row>
        <Row id="quietEnd" says="until">
          <input type="time" {...field('quietEnd')} />
        </Row>
        <Row id="maxConcurrentCalls" says="Calls up at once, at most">
          {figure('maxConcurrentCalls')}
        </Row>
        <Row id="maxCallsPerDay" says="Calls a day (UTC), at most">
          {figure('maxCallsPerDay')}
        </Row>
        <Row id="maxAttemptsPerPersonPerDay" says="Attempts a person and day, at most">
          {figure('maxAttemptsPerPersonPerDay')}
        </Row>
        <Row id="maxNumbersPerDay" says="Numbers bought a day, at most">
          {figure('maxNumbersPerDay')}
        </Row>
        <Row id="allowedCountries" says="Countries that may be called, such as US DE; empty: all">
          <input className="w-40" {...field('allowedCountries')} />
        </Row>
        <Row id="premiumRate" says="Premium-rate numbers may be called">
          <input
            id="premiumRate"
            type="checkbox"
            className="min-h-0"
            checked={after['premiumRate'] === 'yes'}
            onChange={(event) => {
              save.reset();
              setAfter({ ...after, premiumRate: event.target.checked ? 'yes' : '' });
            }}
          />
        </Row>
        <Row id="holidays" says="Days on which nobody is called, such as 2026-12-25">
          <textarea rows={2} className="w-40" {...field('holidays')} />
        </Row>
        <Row id="trustedNumbers" says="Phones of your own, for test calls at any hour">
          <textarea rows={2} className="w-40" {...field('trustedNumbers')} />
        </Row>
      </fieldset>
      {isMine && (
        <p className="mt-3 flex flex-wrap items-baseline gap-4">
          <button type="submit" className="button button-signal" disabled={save.isPending || before === after}>
            Save
          </button>
          <span role="status">{save.isSuccess && 'Saved. It holds for every call from now on.'}</span>
        </p>
      )}
      <Fault error={save.error} />
    </form>
  );
}

const Row = ({ id, says, children }: { id: string; says: string; children: ReactNode }) => (
  <div className="flex items-center justify-between gap-4 border-b border-line py-1.5">
    <label htmlFor={id}>{says}</label>
    {children}
  </div>
);
