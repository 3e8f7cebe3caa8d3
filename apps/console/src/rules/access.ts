import type { components } from '@trunkline/client';
import type { Known } from './words.ts';

type Schemas = components['schemas'];
export type Role = Known<Schemas['Role']>;
export type Permission = Known<Schemas['Permission']>;

const ROLE_SAYS = {
  viewer: 'reads what is called, by whom and how.',
  manager: 'also runs campaigns, and looks after lists, calls and do-not-call.',
  developer: 'builds agents, workflows and webhooks and makes keys; runs no campaign.',
  admin: 'may do everything, and invites others.',
} satisfies Record<Role, string>;

export const ROLES = Object.keys(ROLE_SAYS) as Role[];
export const roleSays = (role: Role) => ROLE_SAYS[role];

const PERMISSIONS = {
  ...{ '*': true, 'campaigns:read': true, 'campaigns:write': true, 'campaigns:run': true },
  ...{
    'calls:read': true,
    'calls:write': true,
    'calls:listen': true,
    'contact_lists:read': true,
    'contact_lists:write': true,
  },
  ...{ 'calls:transfer': true },
  ...{ 'do_not_call:read': true, 'do_not_call:write': true, 'agents:read': true, 'agents:write': true },
  ...{ 'phone_numbers:read': true, 'phone_numbers:write': true, 'phone_numbers:buy': true },
  ...{ 'number_pools:read': true, 'number_pools:write': true },
  ...{ 'workflows:read': true, 'workflows:write': true, 'workflows:run': true },
  ...{ 'knowledge_bases:read': true, 'knowledge_bases:write': true, 'webhooks:read': true, 'webhooks:write': true },
  ...{ 'api_keys:read': true, 'api_keys:write': true, 'members:read': true, 'members:write': true },
  ...{ 'workspace:write': true, 'audit_log:read': true, 'erasures:read': true, 'erasures:write': true },
} satisfies Record<Permission, true>;

/** What somebody can give a key: no more than they may themselves; by what it is of, and what is done with that. */
export function grantable(held: readonly string[]): { of: string; permissions: Permission[] }[] {
  const all = (Object.keys(PERMISSIONS) as Permission[]).filter((each) => each !== '*');
  const mine = all.filter((each) => held.includes('*') || held.includes(each));
  const resources = [...new Set(mine.map((each) => each.split(':')[0]!))];
  return resources.map((of) => ({ of, permissions: mine.filter((each) => each.startsWith(`${of}:`)) }));
}

const DAY_MS = 86_400_000;
/** For how many days a key holds; 0 is for ever. */
export const KEY_DAYS = [0, 30, 90, 365];
export const endOfKey = (days: number, now: Date): string | undefined =>
  days > 0 ? new Date(now.getTime() + days * DAY_MS).toISOString() : undefined;
