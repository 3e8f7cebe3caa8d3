import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import {
  ALL_DAYS,
  clock,
  dayName,
  minutesOf,
  type Window,
  windowFields,
  windowSays,
  windowsOf,
} from '../rules/hours.ts';
import { type Campaign, number, several } from '../rules/words.ts';
import { client, useMay, wordsOf } from '../session.ts';

const CHANGEABLE = ['draft', 'scheduled', 'running', 'paused'];

/** The campaign's hours and pace, which are changed in place. */
export function CampaignTerms({ campaign }: { campaign: Campaign }) {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const isRunning = campaign.status === 'running';
  const isMine = may('campaigns:write') && (!isRunning || may('campaigns:run')) && CHANGEABLE.includes(campaign.status);
  return (
    <section aria-labelledby="terms" className="border-line px-4 py-3 max-xl:border-t md:max-xl:col-span-2">
      <div className="flex items-baseline justify-between gap-2">
        <h2 id="terms">Hours and pace</h2>
        {isMine && (
          <button
            ref={button}
            type="button"
            className="link cursor-pointer"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            Change
          </button>
        )}
      </div>
      {isOpen ? <TermsForm campaign={campaign} onDone={close} /> : <Terms campaign={campaign} />}
    </section>
  );
}

function Terms({ campaign }: { campaign: Campaign }) {
  const rows: [string, string][] = [
    ['Hours', windowsOf(campaign).map(windowSays).join('; ')],
    [
      'Clock',
      campaign.calleeTimeZone === 'campaign' ? campaign.timezone : `the callee’s; ${campaign.timezone} if unknown`,
    ],
    ['At once', several(campaign.maxConcurrency, 'call')],
    ['Pace', campaign.callsPerSecond ? `${number(campaign.callsPerSecond)} a second` : 'no limit of its own'],
    [
      'Retries',
      campaign.retryPolicy.length ? campaign.retryPolicy.map((each) => `${number(each)} min`).join(', ') : 'none',
    ],
    ['From', campaign.fromNumber ?? 'a pool of numbers'],
    ['Agent', campaign.agentId],
  ];
  return (
    <dl className="mt-1">
      {rows.map(([name, value]) => (
        <div key={name} className="cells grid-cols-[64px_minmax(0,1fr)] border-b border-line py-1">
          <dt className="text-dim">{name}</dt>
          <dd className="break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function TermsForm({ campaign, onDone }: { campaign: Campaign; onDone: () => void }) {
  const [windows, setWindows] = useState(() => windowsOf(campaign).map((window, id) => ({ id, window })));
  const [atOnce, setAtOnce] = useState(String(campaign.maxConcurrency));
  const [pace, setPace] = useState(String(campaign.callsPerSecond ?? ''));
  const cache = useQueryClient();
  const { id } = campaign;
  const isRunning = campaign.status === 'running';
  const save = useMutation({
    mutationFn: async () => {
      const fields = {
        ...windowFields(windows.map(({ window }) => window)),
        maxConcurrency: Number(atOnce),
        callsPerSecond: pace ? Number(pace) : null,
      };
      if (!isRunning) return client.campaigns.update(id, fields);
      await client.campaigns.pause(id);
      try {
        await client.campaigns.update(id, fields);
      } finally {
        // What was wrong with the change, the campaign goes on.
        await client.campaigns.resume(id);
      }
      return client.campaigns.get(id);
    },
    onSuccess: (now) => {
      cache.setQueryData(['campaign', id], now);
      onDone();
    },
    onSettled: () => {
      for (const key of ['campaign', 'preview', 'stats']) cache.invalidateQueries({ queryKey: [key, id] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const change = (id: number, window: Window) =>
    setWindows(windows.map((each) => (each.id === id ? { id, window } : each)));
  return (
    <form aria-labelledby="terms" className="mt-2 grid gap-3" onSubmit={submit}>
      {windows.map((each) => (
        <WindowFields key={each.id} window={each.window} onChange={(next) => change(each.id, next)} />
      ))}
      <div className="flex flex-wrap gap-3">
        <label>
          <span className="label block">Calls at once</span>
          <input
            type="number"
            required
            min={1}
            max={10000}
            value={atOnce}
            onChange={(event) => setAtOnce(event.target.value)}
          />
        </label>
        <label>
          <span className="label block">Calls a second</span>
          <input
            type="number"
            min={0.01}
            max={1000}
            step="any"
            placeholder="no limit"
            value={pace}
            onChange={(event) => setPace(event.target.value)}
          />
        </label>
      </div>
      {isRunning && (
        <p className="label">To be changed it is paused for a moment, and goes on. Calls that are up stay up.</p>
      )}
      {save.error && (
        <p role="alert" className="text-signal">
          {wordsOf(save.error)}
        </p>
      )}
      <div className="flex gap-2">
        <button type="submit" className="button button-signal" disabled={save.isPending}>
          Save
        </button>
        <button type="button" className="button" onClick={onDone}>
          Leave it
        </button>
      </div>
    </form>
  );
}

/** One stretch of hours: its days, and from when to when. */
function WindowFields({ window, onChange }: { window: Window; onChange: (window: Window) => void }) {
  const toggle = (day: number) => {
    const days = ALL_DAYS.filter((each) => window.days.includes(each) !== (each === day));
    if (days.length > 0) onChange({ ...window, days });
  };
  const time = (name: 'start' | 'end', text: string) => {
    const minutes = minutesOf(text);
    if (minutes !== undefined) onChange({ ...window, [name]: name === 'end' && minutes === 0 ? 1440 : minutes });
  };
  return (
    <fieldset>
      <legend className="label">Days and hours, by the callee’s clock</legend>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        {ALL_DAYS.map((day) => (
          <label key={day} className="flex items-center gap-1">
            <input
              type="checkbox"
              className="min-h-0 accent-signal"
              checked={window.days.includes(day)}
              onChange={() => toggle(day)}
            />
            {dayName(day)}
          </label>
        ))}
      </div>
      <div className="mt-1 flex items-center gap-2">
        <input
          type="time"
          aria-label="From"
          required
          value={clock(window.start)}
          onChange={(event) => time('start', event.target.value)}
        />
        to
        <input
          type="time"
          aria-label="To"
          required
          value={clock(window.end % 1440)}
          onChange={(event) => time('end', event.target.value)}
        />
        {window.end === 1440 && <span className="label">midnight</span>}
      </div>
    </fieldset>
  );
}
