import { useLocalHours, useWorkspace } from '../live.tsx';
import { CampaignTerms } from '../parts/campaign-terms.tsx';
import { DayRail } from '../parts/day-rail.tsx';
import type { ContactList } from '../rules/files.ts';
import { clock, merged, nightsOf, windowsOf, withinDay } from '../rules/hours.ts';
import { type Campaign, number, several } from '../rules/words.ts';
import { GoOn } from './step.tsx';

/** When people are called: the hours as they are, which are changed in place, and who could ring when. */
export function HoursStep({ list, draft }: { list: ContactList; draft: Campaign }) {
  const { data: workspace } = useWorkspace();
  const preview = useLocalHours(draft.id, true);
  const { earliest, latest, earlyOrLate = 0, contacts } = preview?.localHours ?? {};
  const zones = [draft.timezone, ...(preview?.sharedHours.flatMap((each) => each.timezones) ?? [])];
  return (
    <>
      <p className="max-w-prose" role="status">
        {preview === undefined && 'Looking who could ring when …'}
        {preview && earliest === undefined && 'In the next 24 hours nobody can be called. Change the hours.'}
        {earliest !== undefined &&
          `In the next 24 hours ${several(preview!.callable, 'person', 'people')} can be called, between ${clock(earliest)} and ${clock(latest!)} by their own clocks.`}
        {earlyOrLate > 0 && ` ${number(earlyOrLate)} of them before 8:00 or after 21:00.`}
      </p>
      <p className="max-w-prose text-dim">{quietSays(workspace?.quietHours, preview?.defaultQuietHours)}</p>
      <div className="mt-3">
        <DayRail
          title="Who can ring at which hour of their own day, in the next 24 hours"
          timezones={zones}
          windows={merged(windowsOf(draft).flatMap(withinDay))}
          counts={contacts}
          {...(workspace?.quietHours && { nights: nightsOf(workspace) })}
        />
      </div>
      <div className="-mx-4 mt-3 max-w-2xl">
        <CampaignTerms key={draft.id} campaign={draft} />
      </div>
      <GoOn from="hours" listId={list.id}>
        These hours are right
      </GoOn>
    </>
  );
}

/** The quiet hours, which hold whatever the campaign's hours are. */
function quietSays(quiet: { start: number; end: number } | null | undefined, kept: string | undefined): string {
  if (!quiet) return 'The workspace has no quiet hours: the hours below alone say when it calls.';
  const span = `from ${clock(quiet.start)} to ${clock(quiet.end % 1440)}`;
  if (kept === 'simulated') return `Calls that really ring would keep the quiet hours, ${span}; these are simulated.`;
  if (kept === 'mixed') return `Calls that really ring keep the quiet hours, ${span}; simulated ones don’t.`;
  return `Nobody is called ${span}, by their own clock, whatever the hours below are: these are the workspace’s quiet hours.`;
}
