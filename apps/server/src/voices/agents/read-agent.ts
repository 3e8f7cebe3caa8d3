import type { HostGuard } from '../../foundation/outbound-http/url-fault.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { type ProtocolName, protocols } from '../../lines/media/realtime/protocols.ts';
import type { AgentConnection } from '../../lines/telephony/agent-connection.ts';
import type { Agent } from './directory.ts';
import { changedTerms, modelConnection, type Persona, type TemplateFault, vendorUrl } from './realtime.ts';

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;
const isBases = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && /^kb_[0-9a-f]{32}$/.test(each));
const isWorkspaces = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' && /^ws_[0-9a-f]{32}$/.test(each));
const isUrl = (value: unknown): value is string => isText(value) && /^wss?:\/\//.test(value) && URL.canParse(value);
/** Of a stream: it may also be asked for each call. */
const isStreamUrl = (value: unknown): value is string =>
  isText(value) && /^(wss?|https?):\/\//.test(value) && URL.canParse(value);
const isProtocol = (value: unknown): value is ProtocolName => isText(value) && Object.hasOwn(protocols, value);
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
export function readAgent(value: unknown, templateFault: TemplateFault): Agent {
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
      connection:
        connection['type'] === 'realtime'
          ? readRealtime(value, connection, { silenceSeconds, knowledgeBaseIds }, templateFault)
          : { ...readStream(connection), ...(silenceSeconds !== undefined && { silenceSeconds }) },
    }),
    ...(maxConcurrentCalls !== undefined && { maxConcurrentCalls }),
    ...(maxCallSeconds !== undefined && { maxCallSeconds }),
    ...(recording !== undefined && { recording }),
    ...(knowledgeBaseIds && { knowledgeBaseIds }),
    ...(workspaces && { workspaces }),
  };
}

function readStream(fields: Fields): AgentConnection {
  const { type, url } = fields;
  if (type !== 'stream') throw new Error('connection.type must be stream or realtime');
  if (!isStreamUrl(url))
    throw new Error('connection.url must be a wss:// URL, or an https:// URL that is asked for one');
  const headers = optional(fields, 'headers', isObject, 'names and texts') ?? {};
  if (!isHeaders(headers)) throw new Error('connection.headers must be names and texts');
  const secret = optional(fields, 'secret', isText, 'a text');
  const connectAt = optional(fields, 'connectAt', isText, 'answered or ringing') ?? 'answered';
  if (connectAt !== 'answered' && connectAt !== 'ringing') throw new Error('connectAt must be answered or ringing');
  return {
    type,
    url,
    headers,
    ...(secret !== undefined && { secret }),
    connectAt,
    connectTimeoutSeconds: optional(fields, 'connectTimeoutSeconds', isCount, 'a whole number above 0') ?? 2,
    reconnect: optional(fields, 'reconnect', isFlag, 'true or false') ?? false,
  };
}

type Given<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Only what is there. */
const given = <T extends object>(values: T): Given<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>;

/** Whoever runs the server has written it down; where it leads is judged each time that it is connected to. */
const anyHost: HostGuard = { isOpenHost: () => true, isAllowedHost: () => true };

function readRealtime(
  agent: Fields,
  fields: Fields,
  {
    silenceSeconds = 30,
    knowledgeBaseIds = [],
  }: { silenceSeconds?: number | undefined; knowledgeBaseIds?: string[] | undefined },
  templateFault: TemplateFault,
): AgentConnection {
  const text = (from: Fields, name: string) => optional(from, name, isText, 'a text');
  const { protocol, url = isProtocol(protocol) ? vendorUrl(protocol) : undefined } = fields;
  if (!isProtocol(protocol)) throw new Error(`connection.protocol must be one of ${Object.keys(protocols).join(', ')}`);
  if (!isUrl(url)) throw new Error('connection.url must be a wss:// URL');
  const model = text(fields, 'model');
  if (model === undefined) throw new Error('connection.model must be a text');
  const secret = text(fields, 'secret');
  const tools = optional(agent, 'tools', isTools, 'a list of tools, each with a name, a description and a url');
  if (tools?.length && secret === undefined)
    throw new Error('connection.secret must be a text: it signs the requests of tools');
  const persona = given({
    instructions: text(agent, 'instructions'),
    firstMessage: text(agent, 'firstMessage'),
    speaksFirst: optional(agent, 'speaksFirst', isFlag, 'true or false'),
    resultSchema: optional(agent, 'resultSchema', isObject, 'a JSON Schema'),
    tools: tools?.map(({ name, description, parameters, url: place, headers, timeoutSeconds }) => ({
      ...{ name, description, url: place },
      ...given({ parameters, headers, timeoutSeconds }),
    })),
  });
  const voice = given({ voice: text(fields, 'voice'), language: text(fields, 'language') });
  const connection = { protocol, model, ...voice, ...given({ backendModel: text(fields, 'backendModel') }) };
  const { terms, toolHeaders } = inPlainWords(() =>
    changedTerms(anyHost, { terms: undefined, toolHeaders: {} }, connection, persona, templateFault),
  );
  return modelConnection({
    ...{ terms, url, silenceSeconds, apiKey: text(fields, 'apiKey'), hasBases: knowledgeBaseIds.length > 0 },
    ...(secret !== undefined && { secret }),
    ...(toolHeaders && { toolHeaders }),
  });
}

type Tools = NonNullable<Persona['tools']>;

const isTools = (value: unknown): value is Tools =>
  Array.isArray(value) &&
  value.length <= 16 &&
  value.every(
    (tool) =>
      isObject(tool) &&
      isText(tool['name']) &&
      /^[a-z][a-z0-9_]{0,63}$/.test(tool['name']) &&
      isText(tool['description']) &&
      isText(tool['url']) &&
      (tool['parameters'] === undefined || isObject(tool['parameters'])) &&
      (tool['headers'] === undefined || isHeaders(tool['headers'])) &&
      (tool['timeoutSeconds'] === undefined || (isCount(tool['timeoutSeconds']) && tool['timeoutSeconds'] <= 20)),
  );

const isHeaders = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.values(value).every(isText);

/** What a request would be refused for, as it is said of a file. */
function inPlainWords<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new Error(error.message.replaceAll('body/', ''), { cause: error });
  }
}
