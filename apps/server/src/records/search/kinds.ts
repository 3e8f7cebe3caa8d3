import { type RawBuilder, sql } from 'kysely';
import type { components } from '../../foundation/values/generated/contract.ts';
import type { IdPrefix } from '../../foundation/values/ids.ts';

/** What of a workspace is found in a table of its own, beside calls. */
export interface Kind {
  type: Exclude<components['schemas']['SearchHit']['type'], 'person' | 'call'>;
  prefix: IdPrefix;
  /** Without which it isn't found. */
  permission: string;
  table: string;
  where?: RawBuilder<boolean>;
  /** SQL of what the contract calls them. */
  shown: { name?: string; status?: string; number?: string };
  /** Whether it is found by its ID alone: there may be millions. */
  isByIdAlone?: boolean;
}

/** In the order in which they are shown. */
export const kinds: readonly Kind[] = [
  {
    ...{ type: 'campaign', prefix: 'cmp', permission: 'campaigns:read', table: 'campaigns' },
    where: sql<boolean>`kind = 'campaign'`,
    shown: { name: 'name', status: 'status' },
  },
  {
    ...{ type: 'batch', prefix: 'bat', permission: 'calls:read', table: 'campaigns' },
    where: sql<boolean>`kind = 'batch'`,
    shown: { status: `case status when 'stopped' then 'cancelled' else status end` },
    isByIdAlone: true,
  },
  {
    ...{ type: 'contact_list', prefix: 'list', permission: 'contact_lists:read', table: 'contact_lists' },
    where: sql<boolean>`status <> 'archived' and type <> 'batch'`,
    shown: { name: 'name', status: 'status' },
  },
  {
    ...{ type: 'agent', prefix: 'agent', permission: 'agents:read', table: 'agents' },
    shown: { name: 'name' },
  },
  {
    ...{ type: 'phone_number', prefix: 'pn', permission: 'phone_numbers:read', table: 'phone_numbers' },
    where: sql<boolean>`status <> 'released'`,
    shown: { name: 'friendly_name', status: 'status', number: 'phone_number' },
  },
  {
    ...{ type: 'number_pool', prefix: 'pool', permission: 'number_pools:read', table: 'number_pools' },
    shown: { name: 'name' },
  },
  {
    ...{ type: 'trunk', prefix: 'trk', permission: 'phone_numbers:read', table: 'trunks' },
    shown: { name: 'termination_url', status: 'status' },
  },
  {
    ...{ type: 'workflow', prefix: 'wf', permission: 'workflows:read', table: 'workflows' },
    shown: { name: 'name' },
  },
  {
    ...{ type: 'workflow_run', prefix: 'run', permission: 'workflows:read', table: 'workflow_runs' },
    shown: { name: 'workflow_name', status: 'status' },
    isByIdAlone: true,
  },
  {
    ...{ type: 'knowledge_base', prefix: 'kb', permission: 'knowledge_bases:read', table: 'knowledge_bases' },
    shown: { name: 'name' },
  },
];
