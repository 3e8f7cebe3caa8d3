import type { SipRequest, SipResponse } from './message.ts';
import type { TransactionContext } from './transaction.ts';
import type { Flow } from './transport.ts';
import { prepare } from './wire.ts';

/** A response on its way back, which may have to go again. */
export interface Reply {
  send(): void;
}

/** What can't be delivered is lost: the peer asks again, or gives up (RFC 3261 section 17.2.4). */
export function createReply(
  { wire, openBack }: TransactionContext,
  request: SipRequest,
  flow: Flow,
  response: SipResponse,
): Reply {
  const outgoing = prepare(response);
  const deliver = async () => wire.send(outgoing, await openBack(request, flow));
  return {
    send() {
      deliver().catch(() => {});
    },
  };
}
