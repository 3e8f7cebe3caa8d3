import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Follow, useCampaign, useHeld, useLocalHours, useStats, useWorkspace } from '../live.tsx';
import { CampaignActions } from '../parts/campaign-actions.tsx';
import { CampaignTerms } from '../parts/campaign-terms.tsx';
import { Contacts } from '../parts/contacts.tsx';
import { DayRail } from '../parts/day-rail.tsx';
import { Fault, Heading } from '../parts/heading.tsx';
import { timeOf } from '../parts/when.tsx';
import { merged, nightsOf, windowsOf, withinDay } from '../rules/hours.ts';
import { boundOf, leftOf, pictureOf } from '../rules/picture.ts';
import { type Campaign, number, OUTCOMES, percent, plain, reasonSays, type Stats } from '../rules/words.ts';
import { useMay } from '../session.ts';

const route = getRouteApi('/campaigns/$campaignId');

/** One campaign as it goes: what becomes of its calls, who isn't called yet and why, and each contact. */
export function CampaignScreen() {
  const { campaignId } = route.useParams();
  const { data: campaign, error } = useCampaign(campaignId);
  const { data: stats, error: statsError } = useStats(campaignId);
  if (!campaign || !stats) return <Fault error={error ?? statsError} />;
  return (
    <>
      <Follow campaignId={campaignId} />
      <Heading title={campaign.name}>
        <CampaignActions campaign={campaign} left={leftOf(stats)} />
      </Heading>
      <State campaign={campaign} stats={stats} />
      <Figures stats={stats} />
      <Rail campaign={campaign} stats={stats} />
      <div className="grid border-t border-rule md:grid-cols-2 xl:grid-cols-[5fr_4fr_4fr]">
        <Outcomes campaign={campaign} stats={stats} />
        <Reasons stats={stats} />
        <CampaignTerms key={campaign.id} campaign={campaign} />
      </div>
      <Contacts campaign={campaign} stats={stats} />
    </>
  );
}

/** What it does now, in words, and when it will be done. */
function State({ campaign, stats }: { campaign: Campaign; stats: Stats }) {
  const may = useMay();
  const { data: workspace } = useWorkspace();
  const held = useHeld(workspace?.dialingPausedAt !== undefined);
  const { name, says, more, isWrong } = pictureOf({ campaign, stats, workspace, held });
  return (
    <div className="px-4 pb-3" data-picture={name}>
      <p role="status" className={`text-head ${isWrong || name === 'dialing' ? 'text-signal' : ''}`}>
        {says}
      </p>
      <p className="max-w-prose">
        {more} {name === 'scheduled' && campaign.scheduledAt && `It begins at ${timeOf(campaign.scheduledAt)}.`}{' '}
        {name === 'agent' && may('agents:read') && (
          <Link to="/lists/$kind" params={{ kind: 'agents' }} search={{}} className="link">
            The agents
          </Link>
        )}
      </p>
      <Eta campaign={campaign} stats={stats} />
      {campaign.redialOf && (
        <p className="text-dim">
          It calls those again who were not reached by{' '}
          <Link to="/campaigns/$campaignId" params={{ campaignId: campaign.redialOf }} search={{}} className="link">
            another campaign
          </Link>
          .
        </p>
      )}
    </div>
  );
}

function Eta({ campaign, stats }: { campaign: Campaign; stats: Stats }) {
  if (campaign.status !== 'running') return null;
  const bound = boundOf(campaign, stats);
  const end = stats.estimatedEndAt;
  const speed =
    stats.callsPerSecond >= 1
      ? `${stats.callsPerSecond.toFixed(1)} calls a second`
      : `${Math.round(stats.callsPerSecond * 60)} calls a minute`;
  return (
    <p className="text-dim">
      {end ? `At ${speed} the last contact is done at ${timeOf(end)}.` : 'When it is done can’t be said yet.'}
      {bound && ` What bounds it: ${bound}.`}
    </p>
  );
}

/** Where the contacts are; each figure opens those. */
function Figures({ stats }: { stats: Stats }) {
  const figures = [
    ['contacts', stats.totalContacts, undefined],
    ['never tried', stats.pending, 'pending'],
    ['to be tried again', stats.waiting, 'waiting'],
    ['on the line', stats.dialing, 'dialing'],
    ['done', stats.done, 'done'],
    ['left out', stats.skipped, 'skipped'],
  ] as const;
  return (
    <ul className="grid grid-cols-3 border-t border-rule lg:grid-cols-6">
      {figures.map(([name, value, state]) => (
        <li key={name} className="border-r border-b border-line last:border-r-0 lg:border-b-0">
          <Link to="." search={state ? { state } : {}} hash="contacts" className="block px-4 py-1.5 hover:bg-raised">
            <span className={`block text-head sm:text-figure ${state === 'dialing' && value > 0 ? 'text-signal' : ''}`}>
              {number(value)}
            </span>
            <span className="label">{name}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** The day of those who are called. */
function Rail({ campaign, stats }: { campaign: Campaign; stats: Stats }) {
  const { data: workspace } = useWorkspace();
  const hours = useLocalHours(campaign.id, leftOf(stats) > 0 || campaign.status === 'draft');
  const windows = merged(windowsOf(campaign).flatMap(withinDay));
  const zones = [campaign.timezone, ...(hours?.sharedHours.flatMap((each) => each.timezones) ?? [])];
  return (
    <div className="border-t border-rule px-4 py-2">
      <DayRail
        title={
          hours
            ? 'Who can ring at which hour of their own day, in the next 24 hours'
            : 'Its hours, by the callee’s clock'
        }
        timezones={zones}
        windows={windows}
        counts={hours?.localHours.contacts}
        {...(workspace?.quietHours && { nights: nightsOf(workspace) })}
      />
    </div>
  );
}

/** How calls ended, as they come. */
function Outcomes({ campaign, stats }: { campaign: Campaign; stats: Stats }) {
  const counts = stats.outcomes as Record<string, number>;
  const ended = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const most = Math.max(1, ...Object.values(counts));
  return (
    <section aria-labelledby="outcomes" className="border-line px-4 py-3 md:border-r">
      <h2 id="outcomes">How calls ended</h2>
      {ended === 0 && <p className="mt-1 text-dim">No call has ended yet.</p>}
      <ul className="mt-1">
        {OUTCOMES.filter((outcome) => counts[outcome]).map((outcome) => (
          <li key={outcome}>
            <CallsOf campaignId={campaign.id} outcome={outcome}>
              <span className="h-2 self-center" aria-hidden="true">
                <span className="block h-full bg-ink" style={{ width: `${(counts[outcome]! / most) * 100}%` }} />
              </span>
              <span className="text-end">{number(counts[outcome]!)}</span>
              <span className="text-end text-dim">{percent(counts[outcome]!, ended)}</span>
            </CallsOf>
          </li>
        ))}
      </ul>
      {ended > 0 && (
        <p className="label mt-2">
          {number(ended)} ended of {number(stats.attempts)} placed. {number(stats.conversions)} converted
          {campaign.targetConversionRate !== undefined && `, of ${percent(campaign.targetConversionRate, 1)} hoped for`}
          .
        </p>
      )}
    </section>
  );
}

/** A row that opens the calls of an outcome, for who may read them. */
function CallsOf({ campaignId, outcome, children }: { campaignId: string; outcome: string; children: ReactNode }) {
  const may = useMay();
  const row = 'cells grid-cols-[116px_1fr_64px_56px] border-b border-line py-1';
  if (!may('calls:read'))
    return (
      <div className={row}>
        <span>{plain(outcome)}</span>
        {children}
      </div>
    );
  return (
    <Link to="/calls" search={{ campaignId, outcome }} className={`${row} hover:bg-raised`}>
      <span className="link">{plain(outcome)}</span>
      {children}
    </Link>
  );
}

/** Why contacts aren't called, now or at all; each reason opens those contacts. */
function Reasons({ stats }: { stats: Stats }) {
  const { notYet = {}, never = {} } = stats.reasons ?? {};
  return (
    <section aria-labelledby="not-yet" className="border-line px-4 py-3 max-md:border-t xl:border-r">
      <h2 id="not-yet">Why not yet</h2>
      <ReasonList counts={notYet} whenNone="Nobody is kept waiting." />
      {Object.keys(never).length > 0 && (
        <>
          <h2 className="mt-3">Why never</h2>
          <ReasonList counts={never} />
        </>
      )}
    </section>
  );
}

function ReasonList({ counts, whenNone }: { counts: Record<string, number>; whenNone?: string }) {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  if (sorted.length === 0) return <p className="mt-1 text-dim">{whenNone}</p>;
  return (
    <ul className="mt-1">
      {sorted.map(([reason, count]) => (
        <li key={reason}>
          <Link
            to="."
            search={{ reason }}
            hash="contacts"
            className="cells grid-cols-[1fr_72px] border-b border-line py-1 hover:bg-raised"
          >
            <span className="link">{reasonSays(reason)}</span>
            <span className="text-end">{number(count)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
