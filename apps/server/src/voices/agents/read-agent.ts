import type { AgentConnection } from '../../lines/telephony/agent-connection.ts';
import type { Agent } from './directory.ts';

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;
const isBases = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && /^kb_[0-9a-f]{32}$/.test(each));
const isWorkspaces = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && /^ws_[0-9a-f]{32}$/.test(each));
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';

/** Throws what is wrong with a field that is there and isn't as it must be. */
function optional<T>(fields: Fields, name: string, is: (value: unknown) => value is T, wanted: string): T | undefined {
  const value = fields[name];
  if (value === undefined || is(value)) return value;
  throw new Error(`${name} must be ${wanted}`);
}

/**
 * An agent out of what a file or a server gave: the fields of the contract's `CreateAgent` and an `id` of its own; fields
 * that we don't know are left out. Throws an error that names the first fault.
 */
export function readAgent(value: unknown): Agent {
  if (!isObject(value) || !isText(value.id) || !isText(value.name)) throw new Error('it needs an id and a name');
  const connection = optional(value, 'connection', isObject, 'an object with a type and a url');
  const maxConcurrentCalls = optional(value, 'maxConcurrentCalls', isCount, 'a whole number above 0');
  const maxCallSeconds = optional(value, 'maxCallSeconds', isCount, 'a whole number above 0');
  const silenceSeconds = optional(value, 'silenceSeconds', isCount, 'a whole number above 0');
  const recording = optional(value, 'recording', isFlag, 'true or false');
  const knowledgeBaseIds = optional(value, 'knowledgeBaseIds', isBases, 'a list of knowledge base IDs');
  const workspaces = optional(value, 'workspaces', isWorkspaces, 'a list of workspace IDs');
  return {
    id: value.id,
    name: value.name,
    ...(connection && {
      connection: { ...readConnection(connection), ...(silenceSeconds !== undefined && { silenceSeconds }) },
    }),
    ...(maxConcurrentCalls !== undefined && { maxConcurrentCalls }),
    ...(maxCallSeconds !== undefined && { maxCallSeconds }),
    ...(recording !== undefined && { recording }),
    ...(knowledgeBaseIds && { knowledgeBaseIds }),
    ...(workspaces && { workspaces }),
  };
}

function readConnection(fields: Fields): AgentConnection {
  const { type, url } = fields;
  if (type !== 'stream') throw new Error('connection.type must be stream');
  if (!isText(url) || !/^wss?:\/\//.test(url)) throw new Error('connection.url must be a wss:// URL');
  const headers = optional(fields, 'headers', isObject, 'names and texts') ?? {};
  if (!Object.values(headers).every(isText)) throw new Error('connection.headers must be names and texts');
  const secret = optional(fields, 'secret', isText, 'a text');
  const connectAt = optional(fields, 'connectAt', isText, 'answered or ringing') ?? 'answered';
  if (connectAt !== 'answered' && connectAt !== 'ringing') throw new Error('connectAt must be answered or ringing');
  return {
    type,
    url,
    headers: headers as Record<string, string>,
    ...(secret !== undefined && { secret }),
    connectAt,
    connectTimeoutSeconds: optional(fields, 'connectTimeoutSeconds', isCount, 'a whole number above 0') ?? 2,
    reconnect: optional(fields, 'reconnect', isFlag, 'true or false') ?? false,
  };
}
