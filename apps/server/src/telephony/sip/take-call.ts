import type { IncomingCall } from '@trunkline/sip';
import type { PlaceParts } from './place-call.ts';
import type { SipCall } from './sip-call.ts';

/** Seconds after which a caller may try again where there was no room. */
const RETRY_AFTER_SECONDS = '5';

/**
 * Puts a call through to its agent: the agent is there before the caller is answered. What can't be is refused, and told
 * as the end of the call.
 */
export async function takeCall(
  { store, serverId, addressFor }: Pick<PlaceParts, 'store' | 'serverId' | 'addressFor'>,
  call: SipCall,
  incoming: IncomingCall,
): Promise<void> {
  const { roomId, workspaceId } = call.terms;
  call.call = incoming;
  incoming.listen({
    ...call.handlers(),
    onState: (dialog) => void store.note({ roomId, dialog }).catch(() => {}),
    onAnswered: ({ sdp }) =>
      void (async () => {
        if (incoming.sdp !== undefined || (sdp !== undefined && (await call.takeAnswer(sdp)))) await call.answered();
        else call.hangUp({ endedBy: 'error', outcome: 'trunk_error' });
      })(),
    onEnded: (end) => void call.over(end),
  });
  await store.begin({ roomId, workspaceId, serverId: serverId(), at: new Date(), dialog: incoming.stored });
  let session: Awaited<ReturnType<SipCall['openMedia']>>;
  try {
    session = await call.openMedia(addressFor(incoming.source.address), ['PCMU', 'PCMA']);
  } catch {
    return incoming.reject(503, { headers: [['Retry-After', RETRY_AFTER_SECONDS]] });
  }
  call.trusted = [incoming.source.address];
  const answer = incoming.sdp === undefined ? session.offer() : await call.handlers().onOffer!(incoming.sdp);
  if (answer === undefined) return incoming.reject(488);
  if (await call.connectAgent()) incoming.answer(answer);
  else incoming.reject(480);
}
