import { setTimeout as sleep } from 'node:timers/promises';
import { toId } from '../../apps/server/src/foundation/values/ids.ts';
import { FIRST_NUMBER, OLD_ROWS } from './fill.ts';
import { CALLER, type Setting } from './setting.ts';

/** Some work on a filled database. */
export interface Work {
  /** One unit of it, such as `a call`. */
  unit: string;
  /** Does it. @returns how many units it was */
  run(setting: Setting): Promise<number>;
}

const CALLS = 3000;
const RUNS = 500;
const ROWS = 10_000;
const PAGES = 5;
/** What looks for work by itself looks once in half a minute at the rarest, but for retention. */
const REST_MS = 35_000;

/** The tables that the server erases from by itself, and by which time. */
const kept = {
  ...{ audit_log: 'created_at', events: 'created_at', webhook_deliveries: 'created_at', workflow_runs: 'created_at' },
  ...{
    idempotency_keys: 'created_at',
    calls: 'queued_at',
    simulator_calls: 'placed_at',
    concurrency_keys: 'last_ended_at',
  },
};

/** All that is measured, in this order. */
export const works: Work[] = [
  {
    unit: 'a row that retention deletes',
    run: async ({ untilNone }) => {
      for (const [table, time] of Object.entries(kept))
        await untilNone(`select 1 from ${table} where ${time} < now() - interval '90 days' limit 1`);
      return Object.keys(kept).length * OLD_ROWS;
    },
  },
  {
    unit: 'a second at rest',
    run: async () => {
      await sleep(REST_MS);
      return REST_MS / 1000;
    },
  },
  {
    unit: 'a call of a campaign, with its webhook',
    run: async ({ owners: { campaignId }, ask, untilNone, untilDelivered }) => {
      const ofCampaign = `from campaigns where id = '${campaignId}'`;
      await ask(`update campaigns set status = 'running' where id = '${campaignId}'`);
      await untilNone(`select 1 ${ofCampaign} and attempts < ${CALLS}`);
      await ask(`update campaigns set status = 'paused' where id = '${campaignId}'`);
      await untilNone(`select 1 ${ofCampaign} and in_flight > 0`);
      await untilDelivered();
      const { attempts } = await ask<{ attempts: number }>(`select attempts ${ofCampaign}`);
      return attempts;
    },
  },
  {
    unit: 'a run that calls, with its webhooks',
    run: async ({ owners: { workflowId }, client, untilNone, untilDelivered }) => {
      const id = toId('wf', workflowId);
      const start = (i: number) =>
        client.workflows.startRun(
          id,
          { context: { phone: `+1${4_252_000_000 + i}` } },
          { idempotencyKey: `new-${i}`, concurrencyKey: `new-${i}` },
        );
      for (let i = 0; i < RUNS; i += 20) await Promise.all(Array.from({ length: 20 }, (_, at) => start(i + at)));
      await untilNone('select 1 from workflow_runs where ended_at is null limit 1');
      await untilDelivered();
      return RUNS;
    },
  },
  {
    unit: 'a row that is imported',
    run: async ({ client }) => {
      const file = [
        'phone_number,name,city',
        ...Array.from({ length: ROWS }, (_, i) => `+1${4_252_000_000 + i},Ada,Rome`),
      ];
      const { list } = await client.contactLists.upload({ name: 'Spring', file: file.join('\n') });
      await client.contactLists.confirm(list.id);
      return ROWS;
    },
  },
  {
    unit: 'a contact that is added to a campaign',
    run: async ({ client, untilNone, ask }) => {
      const { id: listId } = await ask<{ id: string }>("select id from contact_lists where name = 'Spring'");
      const { id } = await client.campaigns.create({
        name: 'Spring',
        agentId: 'agent',
        fromNumber: CALLER,
        lists: [{ id: toId('list', listId), role: 'contacts' }],
      });
      await ask("update workspaces set dialing_paused_at = '2026-01-01'");
      await client.campaigns.start(id);
      await untilNone("select 1 from campaigns where name = 'Spring' and not contacts_added");
      await client.campaigns.stop(id);
      await ask('update workspaces set dialing_paused_at = null');
      return ROWS;
    },
  },
  {
    unit: 'a first page of a list',
    run: async ({ owners, get }) => {
      for (const list of listsOf(owners)) for (let i = 0; i < PAGES; i += 1) await get(list);
      return PAGES * listsOf(owners).length;
    },
  },
  {
    unit: 'a next page of a list',
    run: async ({ owners, get, forget }) => {
      const pages = listsOf(owners).map(async (list) => [list, (await get(list)).nextCursor] as const);
      const cursors = (await Promise.all(pages)).filter(([, cursor]) => cursor !== undefined);
      await forget();
      for (const [list, cursor] of cursors)
        for (let i = 0; i < PAGES; i += 1)
          await get(`${list}${list.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor!)}`);
      return PAGES * cursors.length;
    },
  },
];

const listsOf = ({ campaignId, listId, webhookId, workflowId }: Setting['owners']): string[] => [
  '/v1/calls',
  '/v1/calls?status=completed',
  '/v1/calls?direction=inbound',
  '/v1/calls?campaignId=cmp_00000000000070028000000000000000',
  `/v1/calls?phoneNumber=%2B${FIRST_NUMBER + 5000}`,
  '/v1/workflow-runs',
  `/v1/workflows/${toId('wf', workflowId)}/runs`,
  `/v1/calls/campaigns/${toId('cmp', campaignId)}/contacts`,
  `/v1/calls/contact-lists/${toId('list', listId)}/entries`,
  `/v1/webhooks/${toId('whk', webhookId)}/deliveries`,
  '/v1/audit-log',
  '/v1/calls/do-not-call',
];
