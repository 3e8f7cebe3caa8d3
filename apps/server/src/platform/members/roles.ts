import type { components } from '../../foundation/values/generated/contract.ts';

/** What members may be. */
export type Role = components['schemas']['Role'];
type Permission = Exclude<components['schemas']['Permission'], '*'>;

const [all, managers, developers] = [
  ['viewer', 'manager', 'developer'],
  ['manager'],
  ['developer'],
] as const satisfies Role[][];
const both = ['manager', 'developer'] as const satisfies Role[];
const adminsAlone = [] as const;

/** Each permission with the roles that have it; an admin has all of them. The contract shows the same, role by role (`x-permissions`). */
const rolesWith: Record<Permission, readonly Exclude<Role, 'admin'>[]> = {
  'phone_numbers:read': all,
  'phone_numbers:write': developers,
  'phone_numbers:buy': adminsAlone,
  'number_pools:read': all,
  'number_pools:write': developers,
  'workflows:read': all,
  'workflows:write': developers,
  'workflows:run': both,
  'contact_lists:read': all,
  'contact_lists:write': managers,
  'campaigns:read': all,
  'campaigns:write': managers,
  'campaigns:run': managers,
  'calls:read': all,
  'calls:write': both,
  'calls:listen': managers,
  'calls:transfer': both,
  'knowledge_bases:read': all,
  'knowledge_bases:write': developers,
  'agents:read': all,
  'agents:write': developers,
  'webhooks:read': developers,
  'webhooks:write': developers,
  'api_keys:read': developers,
  'api_keys:write': developers,
  'members:read': adminsAlone,
  'members:write': adminsAlone,
  'do_not_call:read': all,
  'do_not_call:write': managers,
  'erasures:read': adminsAlone,
  'erasures:write': adminsAlone,
  'workspace:write': adminsAlone,
  'audit_log:read': developers,
};

const permissionsWith = (role: Role) =>
  Object.entries(rolesWith).flatMap(([permission, roles]) => (roles.some((each) => each === role) ? permission : []));

/** What each role may do. */
export const rolePermissions: Readonly<Record<Role, readonly string[]>> = {
  viewer: permissionsWith('viewer'),
  manager: permissionsWith('manager'),
  developer: permissionsWith('developer'),
  admin: ['*'],
};
