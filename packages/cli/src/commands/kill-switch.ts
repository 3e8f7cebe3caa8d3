import { ForbiddenError } from '@trunkline/client';
import type { Command } from 'commander';
import { askYes } from '../ask.ts';
import { type Context, command } from '../group.ts';
import type { Io } from '../io.ts';
import { count, plain, several } from '../text.ts';

/** As many campaigns as the status lists. */
const LISTED = 20;

/** How many campaigns dial, in words; nothing if the key may not read them. */
async function running({ client }: Context): Promise<string> {
  try {
    const { totalCount } = await client.campaigns.list({ status: 'running', perPage: 1 });
    return ` ${several(totalCount, 'campaign')} ${totalCount === 1 ? 'is' : 'are'} running.`;
  } catch (error) {
    if (error instanceof ForbiddenError) return '';
    throw error;
  }
}

async function stop(context: Context): Promise<void> {
  const { client, screen, io, options } = context;
  if (options['yes'] !== true) {
    const { name, usage } = await client.workspace.get();
    screen.say(
      `This keeps every campaign, batch and workflow of ${plain(name)} from calling anybody.${await running(context)} Calls that are up go on (${count(usage.liveCalls)} now). Nothing is lost: trunkline resume lets all of it go on.`,
    );
    await askYes(io, { yes: false, message: `Stop all dialing in ${plain(name)}?`, otherwise: 'Nothing was stopped.' });
  }
  const stopped = await client.workspace.pauseDialing();
  if (screen.json) return screen.record(stopped);
  const { name, usage } = stopped;
  screen.say(
    `All dialing in ${plain(name)} is stopped. Calls that are up go on (${count(usage.liveCalls)} now). Go on: trunkline resume`,
  );
}

async function status({ client, screen }: Context): Promise<void> {
  const [workspace, { items: campaigns, totalCount }] = await Promise.all([
    client.workspace.get(),
    client.campaigns.list({ status: ['running', 'paused', 'scheduled'], perPage: LISTED }),
  ]);
  if (screen.json) return screen.record({ workspace, campaigns });
  const { name, dialingPausedAt: since, usage } = workspace;
  screen.say(
    since ? `All dialing in ${plain(name)} is stopped since ${plain(since)}.` : `Dialing in ${plain(name)} is on.`,
  );
  screen.say(`${several(usage.liveCalls, 'call')} up, ${count(usage.callsToday)} placed today.`);
  if (campaigns.length > 0)
    screen.section(`${several(totalCount, 'campaign')} not at the end`, campaigns, [
      ['id', 'id'],
      ['status', 'status'],
      ['paused by itself', ({ meta }) => meta?.pause?.reason],
      ['name', 'name'],
    ]);
  screen.say(since ? '\nLet all go on: trunkline resume' : '\nCall nobody any more, at once: trunkline stop');
}

/** The kill switch, where a person looks for it at night. */
export function addKillSwitch(program: Command, io: Io): void {
  const state = { usage: 'status', says: 'Who is being called now, and how to stop it', example: 'status' };
  command(program, io, state, status);
  const stopping = { usage: 'stop', says: 'Call nobody any more, at once (the kill switch)', example: 'stop' };
  command(program, io, stopping, stop)
    .alias('pause')
    .option('-a, --all', 'everything, as it does by itself')
    .option('-y, --yes', 'do not ask');
  const going = { usage: 'resume', says: 'Let dialing go on after a stop', example: 'resume' };
  command(program, io, going, async ({ client, screen }) => {
    const resumed = await client.workspace.resumeDialing();
    if (screen.json) return screen.record(resumed);
    screen.say(`Dialing in ${plain(resumed.name)} goes on.`);
  }).alias('unpause');
}
