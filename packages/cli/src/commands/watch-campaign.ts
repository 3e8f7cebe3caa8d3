import type { CampaignEvent } from '@trunkline/client';
import { exitCodes, Fault, Interrupted } from '../faults.ts';
import type { Context } from '../group.ts';
import { bar, type Screen } from '../screen.ts';
import { count, several } from '../text.ts';

type Figures = CampaignEvent['data'];

/** Shows a campaign's progress on a terminal, its states everywhere, and at the end how its calls ended. */
export async function watchCampaign({ client, io, screen }: Context, id = ''): Promise<void> {
  let last: Figures | undefined;
  try {
    for await (const event of client.campaigns.streamEvents(id, { signal: io.signal })) {
      const { campaign, stats } = event.data;
      if (screen.json || campaign.status !== last?.campaign.status)
        screen.event(event, `${campaign.status}: ${progressText(event.data)}`);
      const { done, skipped, totalContacts } = stats;
      screen.progress(`${bar(done + skipped, totalContacts)}  ${progressText(event.data)}`);
      last = event.data;
    }
  } catch (error) {
    if (!io.signal.aborted) throw error;
    const goesOn = last?.campaign.status === 'running' ? ' The campaign goes on.' : '';
    throw new Interrupted(`Stopped watching.${goesOn} Again: trunkline campaigns watch ${id}`);
  }
  screen.clear();
  if (last) end(screen, last);
}

function progressText({ stats }: Figures): string {
  const { totalContacts, done, skipped, dialing } = stats;
  if (totalContacts === 0) return 'no contacts yet';
  return `${count(done + skipped)} of ${count(totalContacts)}, ${count(dialing)} on the line`;
}

function end(screen: Screen, { campaign, stats }: Figures): void {
  const outcomes = Object.entries(stats.outcomes)
    .filter(([, calls]) => calls > 0)
    .sort(([, a], [, b]) => b - a);
  if (outcomes.length > 0)
    screen.section(`How ${several(stats.attempts, 'call')} ended`, outcomes, [
      ['outcome', ([outcome]) => outcome],
      ['calls', ([, calls]) => count(calls)],
    ]);
  if (stats.skipped > 0)
    screen.say(
      `\n${several(stats.skipped, 'contact')} not called. Why: trunkline campaigns contacts ${campaign.id} --state skipped`,
    );
  if (campaign.status !== 'failed') return;
  const reason = campaign.meta?.failure?.reason ?? 'no reason is given';
  throw new Fault(`The campaign has failed: ${reason}.`, {
    exitCode: exitCodes.failed,
    next: `trunkline campaigns preview ${campaign.id}`,
  });
}
