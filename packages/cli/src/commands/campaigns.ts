import type { Command } from 'commander';
import type { First, Second } from '../client-types.ts';
import { addFlags, type Flags, given, number, type Options } from '../flags.ts';
import { type Client, type Context, type Group, group, showList } from '../group.ts';
import { type Kind, kind, namedId } from '../ids.ts';
import type { Io } from '../io.ts';
import type { Screen } from '../screen.ts';
import { count } from '../text.ts';
import { addTimeFlags, timesOf } from './campaign-times.ts';
import { sayDefaultHours, sayLocalHours } from './local-hours.ts';
import { reasonInWords } from './reasons.ts';
import { watchCampaign } from './watch-campaign.ts';
import { whyInCampaign } from './why.ts';

const EXAMPLE = 'cmp_…';

const flags: Flags<First<'campaigns', 'create'>> = {
  name: ['text', 'what to call it'],
  agentId: ['text', 'the agent that talks'],
  fromNumber: ['text', 'the number that calls'],
  numberPoolId: ['text', 'or the pool of numbers'],
  timezone: ['text', 'of its hours, such as Europe/Berlin'],
  calleeTimeZone: ['text', 'of several: strictest or campaign'],
  scheduledAt: ['text', 'when it starts by itself'],
  startDate: ['text', 'no call before then'],
  endDate: ['text', 'no call from then on'],
  maxConcurrency: ['number', 'calls at once'],
  callsPerSecond: ['number', 'new calls a second'],
  ringTimeoutSeconds: ['number', 'how long it rings'],
  maxCallSeconds: ['number', 'longest call'],
  recording: ['switch', 'record the calls'],
  voicemailCounts: ['switch', 'done by a message that was left'],
  requireConsent: ['switch', 'call only who has agreed'],
  tags: ['list', 'stand on its calls'],
};

/** `--list` and `--dnd-list` make the lists of the body, `--budget-calls` and `--budget-minutes` its budget; its times follow. */
function withLists(body: Options, { options }: Context): Options {
  const { list = [], dndList = [] } = options as { list?: string[]; dndList?: string[] };
  const { budgetCalls: maxCalls, budgetMinutes: maxMinutes } = options as Record<string, number | undefined>;
  const lists = [...list.map((id) => ({ id, role: 'contacts' })), ...dndList.map((id) => ({ id, role: 'dnd' }))];
  const budget = { ...(maxCalls !== undefined && { maxCalls }), ...(maxMinutes !== undefined && { maxMinutes }) };
  return {
    ...body,
    ...timesOf(options),
    ...(lists.length > 0 && { lists }),
    ...(Object.keys(budget).length > 0 && { budget: { ...(body['budget'] as object), ...budget } }),
  };
}

/** The same for a campaign that is to be made, which has no hours that `none` could take away. */
function withListsOfNew(sent: Options, context: Context): Options {
  const { callingWindows, ...body } = withLists(sent, context);
  return callingWindows ? { ...body, callingWindows } : body;
}

/** Contacts, by what a person calls them. */
const contactsOf = (campaign: string): Kind =>
  kind(
    ['contact', 'contacts', 'cc', `campaigns contacts ${campaign}`],
    (client: Client) => (query: Second<'campaigns', 'listContacts'>) => client.campaigns.listContacts(campaign, query),
    ({ id }) => id,
    ({ phoneNumber }) => phoneNumber,
    ({ name }) => name,
  );

/** The same for a campaign that is there: the service replaces all, and who gives one part means no other. */
async function withOtherLists(sent: Options, context: Context, id = ''): Promise<Options> {
  const { list, dndList, budgetCalls, budgetMinutes } = context.options as {
    list?: string[];
    dndList?: string[];
  } & Options;
  const isOneList = Boolean(list) !== Boolean(dndList);
  const isPartOfBudget = (budgetCalls === undefined) !== (budgetMinutes === undefined);
  if (!isOneList && !isPartOfBudget) return withLists(sent, context);
  const { lists, budget } = await context.client.campaigns.get(id);
  const body = isPartOfBudget ? { budget, ...sent } : sent;
  if (!isOneList) return withLists(body, context);
  const others = lists.filter(({ role }) => role === (list ? 'dnd' : 'contacts')).map((other) => other.id);
  const options = { ...context.options, ...(list ? { dndList: others } : { list: others }) };
  return withLists(body, { ...context, options });
}

const addOwnFlags = (command: Command) =>
  addTimeFlags(command)
    .option('--list <list...>', 'whom to call')
    .option('--dnd-list <list...>', 'whom never to call')
    .option('--budget-calls <n>', 'most calls placed', number)
    .option('--budget-minutes <n>', 'most minutes of talk', number);

export function addCampaigns(program: Command, io: Io): void {
  const campaigns = group(program, io, 'campaigns', 'Call everybody in a list', EXAMPLE);
  campaigns.list(
    (client: Client) => client.campaigns.list,
    [
      ['id', 'id'],
      ['status', 'status'],
      ['name', 'name'],
      ['contacts', 'totalContacts'],
      ['from', ({ fromNumber, numberPoolId }) => fromNumber ?? numberPoolId],
      ['made', 'createdAt'],
    ],
    { status: ['text', 'running, paused, …'], tag: ['text', 'of this tag'], searchText: ['text', 'part of the name'] },
  );
  campaigns.one('show <id>', 'Show a campaign', (client, id = '') => client.campaigns.get(id));
  const create = {
    usage: 'create',
    says: 'Make a campaign; calls nobody yet',
    example: 'create --name Hello --list list_…',
  };
  const send = (client: Context['client'], body: First<'campaigns', 'create'>) => client.campaigns.create(body);
  addOwnFlags(campaigns.send(create, flags, send, withListsOfNew));
  const update = { usage: 'update <id>', says: 'Change a campaign', example: `update ${EXAMPLE} --max-concurrency 5` };
  const change = (client: Context['client'], body: Second<'campaigns', 'update'>, id = '') =>
    client.campaigns.update(id, body);
  addOwnFlags(campaigns.send(update, flags as Flags<Second<'campaigns', 'update'>>, change, withOtherLists));
  addPreview(campaigns);
  addStart(campaigns);
  campaigns.one('pause <id>', 'Call nobody new', (client, id = '') => client.campaigns.pause(id));
  campaigns.one('resume <id>', 'Go on', (client, id = '') => client.campaigns.resume(id));
  campaigns.one('stop <id>', 'End it; calls that are up go on', (client, id = '') => client.campaigns.stop(id));
  campaigns.one('cancel <id>', 'Give up one that has not begun', (client, id = '') => client.campaigns.cancel(id));
  const watch = { usage: 'watch <id>', says: 'Follow it to its end', example: `watch ${EXAMPLE}` };
  campaigns.add(watch, watchCampaign);
  addRedial(campaigns);
  const skip = { usage: 'skip <id> <contact>', says: 'Never dial this contact', example: `skip ${EXAMPLE} cc_…` };
  campaigns.add(skip, async ({ client, screen }, id = '', contactId = '') => {
    screen.record(
      await client.campaigns.skipContact(id, await namedId(client, contactsOf(id), contactId, `campaigns skip ${id}`)),
    );
  });
  addStats(campaigns);
  addContacts(campaigns);
  const why = {
    usage: 'why <id> <number>',
    says: 'Why a number was not called, or is not now',
    example: `why ${EXAMPLE} +14155550100`,
  };
  campaigns.add(why, whyInCampaign);
  campaigns.one('delete <id>', 'Delete a campaign', (client, id = '') => client.campaigns.delete(id));
}

function addStart(campaigns: Group): void {
  const about = { usage: 'start <id>', says: 'Begin to call', example: `start ${EXAMPLE}` };
  campaigns
    .add(about, async ({ client, screen, options }, id = '') => {
      const started = await client.campaigns.start(id, options['force'] ? { force: true } : {});
      if (screen.json) return screen.record(started);
      const { localHours, missingVariables, ...campaign } = started;
      screen.record(campaign);
      if (localHours) sayLocalHours(screen, localHours);
      sayMissing(screen, missingVariables);
    })
    .option('--force', 'also if its agent can not be reached');
}

/** Says how many contacts lack what the agent's texts say of them. */
function sayMissing(screen: Screen, missing: Record<string, number> = {}): void {
  const lacking = Object.entries(missing);
  if (lacking.length > 0)
    screen.section('Left out of what the agent says', lacking, [
      ['variable', ([name]) => name],
      ['contacts without it', ([, contacts]) => count(contacts)],
    ]);
}

/** Says how many contacts there are by why they are not called. */
function sayReasons(screen: Screen, title: string, counts: Record<string, number>): void {
  const reasons = Object.entries(counts).filter(([, contacts]) => contacts > 0);
  if (reasons.length > 0)
    screen.section(title, reasons, [
      ['contacts', ([, contacts]) => count(contacts)],
      ['why', ([reason]) => reasonInWords(reason)],
    ]);
}

function addRedial(campaigns: Group): void {
  const flags: Flags<Second<'campaigns', 'redialContacts'>> = {
    outcomes: ['list', 'how their last calls ended, such as no_answer busy unknown'],
    dryRun: ['switch', 'only count'],
  };
  const about = {
    usage: 'redial <id>',
    says: 'Call those again who were not reached',
    example: `redial ${EXAMPLE} --outcomes no_answer busy`,
  };
  const made = campaigns.add(about, async ({ client, screen, options }, id = '') => {
    const redial = await client.campaigns.redialContacts(id, given(options, flags));
    if (screen.json) return screen.record(redial);
    const { contacts, campaign } = redial;
    const isDraft = campaign?.redialOf === id;
    const by = isDraft ? `by a new draft: trunkline campaigns start ${campaign.id}` : 'by this campaign.';
    const verb = options['dryRun'] ? 'would be' : 'are';
    screen.say(`${count(contacts)} ${verb} called again${campaign ? `, ${by}` : '.'}`);
  });
  addFlags(made, flags);
}

function addStats(campaigns: Group): void {
  const about = {
    usage: 'stats <id>',
    says: 'Its figures, and why contacts are not called',
    example: `stats ${EXAMPLE}`,
  };
  campaigns.add(about, async ({ client, screen }, id = '') => {
    const stats = await client.campaigns.getStats(id);
    if (screen.json) return screen.record(stats);
    const { reasons, ...figures } = stats;
    screen.record(figures);
    sayReasons(screen, 'Not called yet', reasons?.notYet ?? {});
    sayReasons(screen, 'Not called any more', reasons?.never ?? {});
  });
}

const hours = (minutes: number): string => (minutes / 60).toFixed(1);

function addPreview(campaigns: Group): void {
  const about = { usage: 'preview <id>', says: 'Whom it would call, and whom not', example: `preview ${EXAMPLE}` };
  campaigns
    .add(about, async ({ client, screen, options }, id = '') => {
      const preview = await client.campaigns.preview(id, { sampleSize: Number(options['limit']) });
      if (screen.json) return screen.record(preview);
      screen.say(`${count(preview.callable)} would be called.`);
      // A server that is older doesn't say.
      if (preview.localHours && preview.callable > 0) {
        sayDefaultHours(screen, preview.defaultQuietHours);
        sayLocalHours(screen, preview.localHours);
      }
      sayMissing(screen, preview.missingVariables);
      if (preview.unreadySentences)
        screen.say(
          `${count(preview.unreadySentences)} sentences of its script are not made yet: trunkline agents test`,
        );
      sayReasons(screen, 'Left out', preview.leftOut);
      const shared = preview.sharedHours ?? [];
      if (shared.length > 0)
        screen.section('Called only while hours are open in all of', shared, [
          ['time zones', ({ timezones }) => timezones],
          ['contacts', ({ contacts }) => count(contacts)],
          ['hours a week', ({ sharedMinutes, openMinutes }) => `${hours(sharedMinutes)} of ${hours(openMinutes)}`],
        ]);
      if (preview.sample.length > 0)
        screen.section('The first', preview.sample, [
          ['number', 'phoneNumber'],
          ['when', 'nextAttemptAt'],
          ['why not', 'reason'],
          ['name', 'name'],
          ['from', 'fromNumber'],
        ]);
    })
    .option('--limit <n>', 'how many of the first', number, 10);
}

function addContacts(campaigns: Group): void {
  const filters: Flags<Second<'campaigns', 'listContacts'>> = {
    state: ['text', 'pending, waiting, dialing, done, skipped'],
    reason: ['text', 'such as do_not_call'],
  };
  const about = {
    usage: 'contacts <id>',
    says: 'Each contact, and why',
    example: `contacts ${EXAMPLE} --state skipped`,
  };
  const made = campaigns.add(about, async (context, id = '') => {
    const query = given(context.options, filters);
    await showList(context, (perPage: number) => context.client.campaigns.listContacts(id, { ...query, perPage }), [
      ['number', 'phoneNumber'],
      ['state', 'state'],
      ['outcome', 'lastOutcome'],
      ['reason', 'reason'],
      ['tries', 'attempts'],
      ['name', 'name'],
      ['next', 'nextAttemptAt'],
    ]);
  });
  addFlags(made, filters);
  made.option('--limit <n>', 'how many at most', number, 50);
}
