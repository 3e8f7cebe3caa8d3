import type { Secrets } from '../../foundation/database/secrets.ts';
import { type HostGuard, urlFault } from '../../foundation/outbound-http/url-fault.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { type ErrorDetail, refuse } from '../../foundation/values/service-error.ts';
import { protocols } from '../../lines/media/realtime/protocols.ts';
import type { RealtimeConnection } from '../../lines/telephony/agent-connection.ts';
import { type AgentRow, apiKeyPlace, type KeptAgent } from './agent-row.ts';
import { ownTools, RESULT_TOOL } from './own-tools.ts';
import { schemaFault } from './tool-arguments.ts';

type Schemas = components['schemas'];

/** What is kept of an agent that is a speech model, beside its address and its key. */
export interface RealtimeTerms {
  protocol: Schemas['AgentProtocol'];
  model: string;
  voice?: string;
  language?: string;
  instructions: string;
  firstMessage?: string;
  speaksFirst: boolean;
  resultSchema?: Record<string, unknown>;
}

/** What such an agent alone has, beside its connection. */
export const personaFields = ['instructions', 'firstMessage', 'speaksFirst', 'resultSchema'] as const;
export type Persona = Pick<Schemas['UpdateAgent'], (typeof personaFields)[number]>;

/** Tells what is wrong with the templates of a text. */
export type TemplateFault = (text: string) => string | undefined;

/** Where the vendor's own models of a protocol are. */
export const vendorUrl = (protocol: Schemas['AgentProtocol']): string => protocols[protocol].url;

/**
 * The terms of an agent, after a change. Throws `invalid_request` for what can't be.
 * @param before nothing for a new one
 */
export function changedTerms(
  before: RealtimeTerms | undefined,
  connection: Pick<Schemas['UpdateAgentConnection'], 'model' | 'voice' | 'language'> &
    Partial<Pick<RealtimeTerms, 'protocol'>>,
  persona: Persona,
  templateFault: TemplateFault,
): RealtimeTerms {
  const { protocol, model, voice, language } = connection;
  const { instructions, firstMessage, speaksFirst, resultSchema } = persona;
  const given = { protocol, model, voice, language, instructions, firstMessage, speaksFirst, resultSchema };
  const changed = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const terms = { speaksFirst: true, ...before, ...changed };
  const kept = Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== null));
  refuse(faultsOf(kept as Partial<RealtimeTerms>, templateFault));
  return kept as unknown as RealtimeTerms;
}

function faultsOf(
  { instructions, firstMessage, resultSchema }: Partial<RealtimeTerms>,
  templateFault: TemplateFault,
): ErrorDetail[] {
  const faults = {
    instructions:
      instructions === undefined ? 'must be given to an agent with a realtime connection' : templateFault(instructions),
    firstMessage: firstMessage === undefined ? undefined : templateFault(firstMessage),
    resultSchema: resultSchema && schemaFault(resultSchema),
  };
  return Object.entries(faults).flatMap(([name, message]) => (message ? [{ path: `/body/${name}`, message }] : []));
}

/** Throws `invalid_request` for an address that the settings don't allow. */
export function checkModelUrl(guard: HostGuard, url: string): void {
  const message = urlFault(guard, url, 'wss:');
  refuse(message === undefined ? [] : [{ path: '/body/connection/url', message }]);
}

/** What is kept of such an agent. */
export const termsOf = (row: KeptAgent) => row.connection as unknown as RealtimeTerms;

/** Such an agent's connection, and what it alone has, as clients see them. */
export function presentRealtime(row: AgentRow): Pick<Schemas['Agent'], 'connection' | (typeof personaFields)[number]> {
  const { protocol, model, voice, language, ...persona } = termsOf(row);
  return {
    connection: {
      ...{ type: 'realtime', protocol, url: row.connection_url!, model, hasApiKey: row.api_key !== null },
      ...(voice !== undefined && { voice }),
      ...(language !== undefined && { language }),
    },
    ...persona,
  };
}

/** How such an agent is reached, and what it is to do. */
export function openRealtime(row: KeptAgent, secrets: Secrets): RealtimeConnection {
  const { workspace_id: workspaceId, id, api_key, knowledge_base_ids = [] } = row;
  return modelConnection({
    terms: termsOf(row),
    url: row.connection_url!,
    apiKey: api_key === null ? undefined : secrets.decrypt(api_key, apiKeyPlace(workspaceId, id)),
    hasBases: knowledge_base_ids.length > 0,
    silenceSeconds: row.silence_seconds,
  });
}

/** The connection that terms come to. */
export const modelConnection = ({
  terms: { resultSchema, ...terms },
  hasBases,
  ...more
}: {
  terms: RealtimeTerms;
  url: string;
  apiKey: string | undefined;
  hasBases: boolean;
  silenceSeconds: number;
}): RealtimeConnection => ({
  type: 'realtime',
  ...terms,
  ...more,
  tools: ownTools(resultSchema, hasBases),
  ...(resultSchema && { asksFor: RESULT_TOOL }),
});
