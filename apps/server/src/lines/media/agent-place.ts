import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import { OutboundError, type OutboundErrorCode } from '../../foundation/outbound-http/outbound-error.ts';
import { urlFault } from '../../foundation/outbound-http/url-fault.ts';
import type { AgentFailure } from './agent-failure.ts';
import type { AgentPlace } from './agent-socket.ts';

/** What is asked: where the stream of one call goes. */
export interface PlaceAsk extends AgentPlace {
  /** The server's own, with the signature. */
  own: Record<string, string>;
  callSid: string;
  customParameters: Record<string, string>;
}

/** A URL and little beside it. */
const MAX_ANSWER = 16_384;

const reasonOf: Partial<Record<OutboundErrorCode, AgentFailure['reason']>> = {
  blocked_address: 'address_refused',
  timeout: 'timed_out',
  response_too_large: 'rejected',
};

/** Whether an agent's URL is asked for each call, and not connected to. */
export const isAsked = (url: string): boolean => /^https?:/.test(url);

/**
 * Asks an agent's `https://` URL where the stream of a call goes. Headers stay there: the URL that it answers with holds all
 * that opens it. Nothing is thrown. @returns where, or why it is not known
 */
export async function askPlace(
  { url, headers, own, accountSid, callSid, customParameters }: PlaceAsk,
  guard: AddressGuard,
  timeoutMs: number,
): Promise<AgentPlace | AgentFailure> {
  const fault = urlFault(guard, url);
  if (fault) return { reason: 'address_refused', text: `The agent's URL ${fault}.` };
  // Threads whose agents have no such URL are spared what sends requests.
  const { createOutboundHttp } = await import('../../foundation/outbound-http/guarded-request.ts');
  const http = createOutboundHttp(guard);
  try {
    const { status, body } = await http.send({
      ...{ workspaceId: accountSid, method: 'POST', url, timeoutMs, maxBytes: MAX_ANSWER },
      headers: { ...withoutType(headers), ...own, 'content-type': 'application/json' },
      body: JSON.stringify({ accountSid, callSid, customParameters }),
    });
    if (status < 200 || status > 299)
      return { reason: 'rejected', text: `The agent's URL answered with ${status}.`, statusCode: status };
    const given = urlIn(body);
    if (given === undefined)
      return { reason: 'rejected', text: 'The agent\'s URL answered without a "url" that begins with wss://.' };
    return { url: given, headers: {}, accountSid };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { reason: reasonOf[error.code] ?? 'refused', text: `The agent's URL can't be asked: ${error.message}` };
  } finally {
    await http.close();
  }
}

const withoutType = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-type'));

/** The `url` of an answer, if it is one of a WebSocket. */
function urlIn(body: Buffer): string | undefined {
  try {
    const { url } = JSON.parse(body.toString()) as { url?: unknown };
    return typeof url === 'string' && /^wss?:\/\//.test(url) && URL.canParse(url) ? url : undefined;
  } catch {
    return undefined;
  }
}
