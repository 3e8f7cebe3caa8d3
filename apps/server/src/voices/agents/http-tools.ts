import type { Secrets } from '../../foundation/database/secrets.ts';
import { GIVE_AGAIN, isSameOrigin } from '../../foundation/outbound-http/same-origin.ts';
import { type HostGuard, urlFault } from '../../foundation/outbound-http/url-fault.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import type { ErrorDetail } from '../../foundation/values/service-error.ts';
import { headersPlace, type KeptAgent } from './agent-row.ts';
import { ownToolNames } from './own-tools.ts';
import { schemaFault } from './tool-arguments.ts';

type GivenTool = components['schemas']['CreateAgentTool'];
export type KeptTool = components['schemas']['AgentTool'];
type Headers = Record<string, string>;

/** Of all tools together: a model reads them all before its first word. */
const MOST_BYTES = 65_536;
/** What the request writes itself. */
const ours = /^(host|connection|content-type|content-length|transfer-encoding|te|trailer|user-agent|webhook-.*)$/i;
const anything = { type: 'object', properties: {}, additionalProperties: false };

/** The tools of an agent after a change, and all of their headers. */
export interface ChangedTools {
  tools: KeptTool[];
  /** By the tool's name. */
  headers: Record<string, Headers>;
}

/**
 * Puts tools in the place of those before. Headers that are not given stay, if the tool's address does.
 * @returns also what is wrong with them
 */
export function changedTools(
  guard: HostGuard,
  given: readonly GivenTool[],
  before: ChangedTools,
): ChangedTools & { faults: ErrorDetail[] } {
  const headers: ChangedTools['headers'] = {};
  const faults: ErrorDetail[] = [];
  const tools = given.map(({ headers: own, ...tool }, at) => {
    const known = before.tools.find(({ name }) => name === tool.name);
    const hadHeaders = known !== undefined && known.headerNames.length > 0;
    const mayStay = hadHeaders && isSameOrigin(tool.url, known.url);
    const kept = own ?? (mayStay ? (before.headers[tool.name] ?? {}) : {});
    const found = faultsOf(guard, tool, kept, given.slice(0, at));
    if (!own && hadHeaders && !mayStay) found['headers'] = GIVE_AGAIN;
    for (const [field, message] of Object.entries(found)) faults.push({ path: `/body/tools/${at}/${field}`, message });
    if (Object.keys(kept).length > 0) headers[tool.name] = kept;
    const { parameters = anything, timeoutSeconds = 8 } = tool;
    return { ...tool, parameters, timeoutSeconds, headerNames: Object.keys(kept) };
  });
  if (Buffer.byteLength(JSON.stringify(tools)) > MOST_BYTES)
    faults.push({ path: '/body/tools', message: `must have at most ${MOST_BYTES} bytes together` });
  return { tools, headers, faults };
}

function faultsOf(
  guard: HostGuard,
  { name, url, parameters }: GivenTool,
  headers: Headers,
  others: readonly GivenTool[],
): Record<string, string> {
  const isTaken = ownToolNames.has(name) || others.some((other) => other.name === name);
  const found = {
    name: isTaken ? 'is the name of another tool' : undefined,
    url: URL.canParse(url) ? urlFault(guard, url) : 'must be a URL',
    parameters: parameters && schemaFault(parameters),
    headers: Object.keys(headers).some((header) => ours.test(header))
      ? 'must not have those that the server writes itself, such as Content-Type'
      : undefined,
  };
  return Object.fromEntries(Object.entries(found).flatMap(([field, fault]) => (fault ? [[field, fault]] : [])));
}

/** The headers of an agent's tools, by their names. */
export function openToolHeaders(row: KeptAgent, secrets: Secrets): Record<string, Headers> {
  const { connection_headers: sealed, workspace_id: workspaceId, id } = row;
  return sealed === null ? {} : JSON.parse(secrets.decrypt(sealed, headersPlace(workspaceId, id)));
}
