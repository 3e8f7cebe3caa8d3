import { createRequest, cseqOf, type SipRequest } from './message.ts';
import { type Reason, writeReason } from './reason.ts';

/** The CANCEL of an INVITE: on its branch and route, with what names it (RFC 3261 section 9.1). */
export function createCancel(invite: SipRequest, reason?: Reason): SipRequest {
  const cancel = createRequest('CANCEL', invite.uri);
  cancel.headers.add('via', invite.headers.get('via')!);
  for (const route of invite.headers.all('route')) cancel.headers.add('route', route);
  cancel.headers.add('max-forwards', '70');
  for (const name of ['from', 'to', 'call-id']) cancel.headers.add(name, invite.headers.get(name)!);
  cancel.headers.add('cseq', `${cseqOf(invite).number} CANCEL`);
  if (reason) cancel.headers.add('reason', writeReason(reason));
  return cancel;
}
