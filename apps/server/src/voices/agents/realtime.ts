import type { Secrets } from '../../foundation/database/secrets.ts';
import { type HostGuard, urlFault } from '../../foundation/outbound-http/url-fault.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { type ErrorDetail, refuse } from '../../foundation/values/service-error.ts';
import { protocols } from '../../lines/media/realtime/protocols.ts';
import type { ModelTool } from '../../lines/media/realtime/speech-model.ts';
import type { RealtimeConnection } from '../../lines/telephony/agent-connection.ts';
import { type AgentRow, apiKeyPlace, type KeptAgent, secretPlace } from './agent-row.ts';
import { type ChangedTools, changedTools, type KeptTool, openToolHeaders } from './http-tools.ts';
import { ownTools, RESULT_TOOL } from './own-tools.ts';
import { schemaFault } from './tool-arguments.ts';

type Schemas = components['schemas'];

/** What is kept of an agent that is a speech model, beside its address and its key. */
export interface RealtimeTerms {
  protocol: Schemas['AgentProtocol'];
  model: string;
  backendModel?: string;
  voice?: string;
  language?: string;
  instructions: string;
  firstMessage?: string;
  speaksFirst: boolean;
  resultSchema?: Record<string, unknown>;
  tools?: KeptTool[];
}

/** What such an agent alone has, beside its connection. */
export const personaFields = ['instructions', 'firstMessage', 'speaksFirst', 'resultSchema', 'tools'] as const;
export type Persona = Pick<Schemas['UpdateAgent'], (typeof personaFields)[number]>;

/** Tells what is wrong with the templates of a text. */
export type TemplateFault = (text: string) => string | undefined;

/** Where the vendor's own models of a protocol are. */
export const vendorUrl = (protocol: Schemas['AgentProtocol']): string => protocols[protocol].url;

/** What is kept of an agent before a change, and the headers of its tools. */
export interface TermsBefore {
  terms: RealtimeTerms | undefined;
  toolHeaders: ChangedTools['headers'];
}

/**
 * The terms of an agent, after a change. Throws `invalid_request` for what can't be.
 * @param before no terms of a new one
 * @returns also the headers of its tools, if they were given
 */
export function changedTerms(
  guard: HostGuard,
  before: TermsBefore,
  connection: Pick<Schemas['UpdateAgentConnection'], 'model' | 'backendModel' | 'voice' | 'language'> &
    Partial<Pick<RealtimeTerms, 'protocol'>>,
  persona: Persona,
  templateFault: TemplateFault,
): { terms: RealtimeTerms; toolHeaders: ChangedTools['headers'] | undefined } {
  const { protocol, model, backendModel, voice, language } = connection;
  const { instructions, firstMessage, speaksFirst, resultSchema } = persona;
  const known = { tools: before.terms?.tools ?? [], headers: before.toolHeaders };
  const changedOnes = persona.tools && changedTools(guard, persona.tools, known);
  const tools = changedOnes?.tools;
  const given = {
    ...{ protocol, model, backendModel, voice, language },
    ...{ instructions, firstMessage, speaksFirst, resultSchema, tools },
  };
  const changed = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const terms = { speaksFirst: true, ...before.terms, ...changed };
  const kept = Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== null));
  refuse([...faultsOf(kept as Partial<RealtimeTerms>, templateFault), ...(changedOnes?.faults ?? [])]);
  return { terms: kept as unknown as RealtimeTerms, toolHeaders: changedOnes?.headers };
}

function faultsOf(
  { protocol, backendModel, instructions, firstMessage, resultSchema }: Partial<RealtimeTerms>,
  templateFault: TemplateFault,
): ErrorDetail[] {
  const hasBackend = protocol === 'openai_live';
  const backendFault = hasBackend ? 'must be given to openai_live' : 'is for openai_live alone';
  const faults = {
    'connection/backendModel': hasBackend === (backendModel !== undefined) ? undefined : backendFault,
    instructions:
      instructions === undefined ? 'must be given to an agent with a realtime connection' : templateFault(instructions),
    firstMessage: firstMessage === undefined ? undefined : templateFault(firstMessage),
    resultSchema: resultSchema && schemaFault(resultSchema),
  };
  return Object.entries(faults).flatMap(([name, message]) => (message ? [{ path: `/body/${name}`, message }] : []));
}

/** Throws `invalid_request` for an address that the settings don't allow. */
export function checkModelUrl(guard: HostGuard, url: string): void {
  const message = /^wss?:/.test(url) ? urlFault(guard, url, 'wss:') : 'must be a wss URL';
  refuse(message === undefined ? [] : [{ path: '/body/connection/url', message }]);
}

/** What is kept of such an agent. */
export const termsOf = (row: KeptAgent) => row.connection as unknown as RealtimeTerms;

/** Such an agent's connection, and what it alone has, as clients see them. */
export function presentRealtime(
  row: AgentRow,
): Pick<Schemas['Agent'], 'connection' | 'abilities' | (typeof personaFields)[number]> {
  const { protocol, model, backendModel, voice, language, ...persona } = termsOf(row);
  return {
    connection: {
      ...{ type: 'realtime', protocol, url: row.connection_url!, model, hasApiKey: row.api_key !== null },
      ...(backendModel !== undefined && { backendModel }),
      ...(voice !== undefined && { voice }),
      ...(language !== undefined && { language }),
    },
    ...persona,
    abilities: toolsOf(termsOf(row), row.knowledge_base_ids.length > 0).map(({ name }) => name),
  };
}

/** What such an agent's model can do in a call. */
const toolsOf = ({ resultSchema, tools = [] }: RealtimeTerms, hasBases: boolean): ModelTool[] => [
  ...ownTools(resultSchema, hasBases),
  ...tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
];

/** How such an agent is reached, and what it is to do. */
export function openRealtime(row: KeptAgent, secrets: Secrets): RealtimeConnection {
  const { workspace_id: workspaceId, id, api_key, knowledge_base_ids = [] } = row;
  return modelConnection({
    terms: termsOf(row),
    url: row.connection_url!,
    apiKey: api_key === null ? undefined : secrets.decrypt(api_key, apiKeyPlace(workspaceId, id)),
    hasBases: knowledge_base_ids.length > 0,
    secret: secrets.decrypt(row.secret, secretPlace(workspaceId, id)),
    toolHeaders: openToolHeaders(row, secrets),
    silenceSeconds: row.silence_seconds,
  });
}

/** The connection that terms come to. */
export const modelConnection = ({
  terms: { resultSchema, tools, ...terms },
  hasBases,
  secret = '',
  toolHeaders = {},
  ...more
}: {
  terms: RealtimeTerms;
  url: string;
  apiKey: string | undefined;
  hasBases: boolean;
  silenceSeconds: number;
  /** For its tools. */
  secret?: string;
  toolHeaders?: ChangedTools['headers'];
}): RealtimeConnection => ({
  type: 'realtime',
  ...terms,
  ...more,
  tools: toolsOf({ ...terms, ...(resultSchema && { resultSchema }), ...(tools && { tools }) }, hasBases),
  http: {
    secret,
    tools: (tools ?? []).map(({ name, url, timeoutSeconds }) => ({
      ...{ name, url, headers: toolHeaders[name] ?? {}, timeoutMs: timeoutSeconds * 1000 },
    })),
  },
  ...(resultSchema && { asksFor: RESULT_TOOL }),
});
