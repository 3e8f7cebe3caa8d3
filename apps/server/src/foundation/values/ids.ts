import { v7 } from 'uuid';

/** The prefix of each kind of ID (api.md, "IDs"). */
export type IdPrefix =
  | 'pn'
  | 'trk'
  | 'pool'
  | 'wf'
  | 'run'
  | 'list'
  | 'upl'
  | 'cmp'
  | 'bat'
  | 'room'
  | 'dtmf'
  | 'xfr'
  | 'cc'
  | 'exp'
  | 'ers'
  | 'kb'
  | 'agent'
  | 'doc'
  | 'snd'
  | 'key'
  | 'ses'
  | 'mem'
  | 'evt'
  | 'whk'
  | 'dlv'
  | 'aud'
  | 'srv'
  | 'ws';

/** Whether an agent's ID is one that `/v1/agents` gives. */
export const isAgentId = (id: string): boolean => /^agent_[0-9a-f]{32}$/.test(id);

/** A new time-sortable UUIDv7, as the database keeps it. */
export const newUuid = (): string => v7();

/** The ID that clients see for a database UUID: `pn_` and 32 hex digits. */
export const toId = (prefix: IdPrefix, uuid: string): string => `${prefix}_${uuid.replaceAll('-', '')}`;

/** The database UUID of an ID that the contract's pattern has let through. */
export function fromId(id: string): string {
  const hex = id.slice(-32);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
