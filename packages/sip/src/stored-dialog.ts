import type { Dialog } from './dialog.ts';
import { callIdOf, createRequest, cseqOf, type SipRequest } from './message.ts';
import type { Target } from './transport.ts';

/** An INVITE that has no final answer: enough to CANCEL it on its branch. */
export interface StoredInvite {
  uri: string;
  /** The Via, with its branch. */
  via: string;
  routes: string[];
  from: string;
  to: string;
  callId: string;
  cseq: number;
  target: Target;
  /** The dialogs of phones that have rung: the peer knows by them whether the call is over. */
  early?: Dialog[];
}

/** A call as plain JSON, for one purpose: another process can end it. */
export type StoredDialog =
  | { version: 1; phase: 'inviting'; invite: StoredInvite }
  | { version: 1; phase: 'answered'; dialog: Dialog };

export const storeInvite = (request: SipRequest, target: Target, early: readonly Dialog[] = []): StoredDialog => ({
  version: 1,
  phase: 'inviting',
  invite: {
    uri: request.uri,
    via: request.headers.get('via')!,
    routes: request.headers.all('route'),
    from: request.headers.get('from')!,
    to: request.headers.get('to')!,
    callId: callIdOf(request),
    cseq: cseqOf(request).number,
    target,
    ...(early.length > 0 && { early: early.map(copyDialog) }),
  },
});

export const storeDialog = (dialog: Dialog): StoredDialog => ({
  version: 1,
  phase: 'answered',
  dialog: copyDialog(dialog),
});

/** A dialog that goes on changes; what was stored of it doesn't. */
export const copyDialog = (dialog: Dialog): Dialog => ({
  ...dialog,
  routeSet: [...dialog.routeSet],
  peer: { ...dialog.peer },
});

/** The INVITE as far as it is needed to match, cancel and acknowledge it. */
export function storedRequest({ uri, via, routes, from, to, callId, cseq }: StoredInvite): SipRequest {
  const request = createRequest('INVITE', uri);
  request.headers.add('via', via);
  for (const route of routes) request.headers.add('route', route);
  request.headers.add('max-forwards', '70').add('from', from).add('to', to);
  request.headers.add('call-id', callId).add('cseq', `${cseq} INVITE`);
  return request;
}
