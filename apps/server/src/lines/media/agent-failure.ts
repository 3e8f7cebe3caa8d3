import { OutboundError } from '../../foundation/outbound-http/outbound-error.ts';
import type { AgentEndReason } from './agent-end.ts';

/** Why an agent has not taken a connection, in the contract's words; `text` says it to a person. */
export interface AgentFailure {
  reason: Extract<
    AgentEndReason,
    | 'address_refused'
    | 'dns_failure'
    | 'refused'
    | 'tls_failure'
    | 'rejected'
    | 'limit_reached'
    | 'timed_out'
    | 'call_ended'
  >;
  text: string;
  /** The HTTP status that came instead of a WebSocket. */
  statusCode?: number | undefined;
  /** The system's name of what failed, such as `ECONNREFUSED`. */
  code?: string | undefined;
  /** Whether it was the key, if that is told by something else than a status. */
  isKeyRefused?: boolean | undefined;
}

const DNS = /^(ENOTFOUND|ENODATA|EAI_|ETIMEOUT$|E(SERVFAIL|REFUSED|FORMERR|NOTIMP|BADNAME)$)/;
/** What Node names after OpenSSL, and its own. */
const TLS = /^(ERR_(TLS|SSL)_|UNABLE_TO_|EPROTO$|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE))|CERT/;

/** What an error of a connection, or of its handshake, means. */
export function agentFailure(error: Error & { code?: string }): AgentFailure {
  const { code = '', message } = error;
  const text = `The agent can't be connected to: ${message || code}`;
  if (error instanceof OutboundError) return { reason: 'address_refused', text };
  if (DNS.test(code)) return { reason: 'dns_failure', text, code };
  if (TLS.test(code)) return { reason: 'tls_failure', text, code };
  if (code === 'ETIMEDOUT') return { reason: 'timed_out', text, code };
  return { reason: 'refused', text, ...(code && { code }) };
}
