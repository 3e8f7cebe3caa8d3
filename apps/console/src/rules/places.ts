import { typedNumber } from './typed-number.ts';

/** Where the console leads, in the order in which it is listed, and the permission without which it isn't shown. */
export const PLACES = [
  { path: '/campaigns', name: 'Campaigns', permission: 'campaigns:read' },
  { path: '/campaigns/new', name: 'New campaign', permission: 'campaigns:write' },
  { path: '/calls', name: 'Calls', permission: 'calls:read' },
  { path: '/lists/contact-lists', name: 'Contact lists', permission: 'contact_lists:read' },
  { path: '/lists/do-not-call', name: 'Do not call', permission: 'do_not_call:read' },
  { path: '/lists/agents', name: 'Agents', permission: 'agents:read' },
  { path: '/lists/phone-numbers', name: 'Phone numbers', permission: 'phone_numbers:read' },
  { path: '/lists/number-pools', name: 'Number pools', permission: 'number_pools:read' },
  { path: '/lists/trunks', name: 'Trunks', permission: 'phone_numbers:read' },
  { path: '/lists/workflows', name: 'Workflows', permission: 'workflows:read' },
  { path: '/lists/knowledge-bases', name: 'Knowledge bases', permission: 'knowledge_bases:read' },
  { path: '/lists/webhooks', name: 'Webhooks', permission: 'webhooks:read' },
  { path: '/members', name: 'Members', permission: 'members:read' },
  { path: '/keys', name: 'Keys and sessions', permission: 'api_keys:read' },
  { path: '/limits', name: 'Limits and hours', permission: 'campaigns:read' },
  { path: '/lists/audit-log', name: 'Audit log', permission: 'audit_log:read' },
] as const;

interface Target {
  path: string;
  search?: Record<string, string>;
  says: string;
  permission: string;
}

/** Where a number, an ID or a name that somebody types may lead, the likeliest first. */
export function placesOfText(text: string): Target[] {
  const trimmed = text.trim();
  if (/^cmp_[0-9a-f]{32}$/.test(trimmed))
    return [{ path: `/campaigns/${trimmed}`, says: 'Campaign', permission: 'campaigns:read' }];
  if (/^room_[0-9a-f]{32}$/.test(trimmed))
    return [{ path: `/calls/${trimmed}`, says: 'Call', permission: 'calls:read' }];
  const digits = typedNumber(trimmed);
  const person: Target = { path: `/people/${digits}`, says: 'Person', permission: 'contact_lists:read' };
  if (/^\+\d{7,15}$/.test(digits))
    return [person, { path: '/calls', search: { phoneNumber: digits }, says: 'Calls with', permission: 'calls:read' }];
  // The screen asks in which country it is dialled like this.
  return /^\d{6,15}$/.test(digits) ? [person] : [];
}
