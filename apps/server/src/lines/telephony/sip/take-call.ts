import type { IncomingCall } from '@trunkline/sip';
import { type PlaceParts, takeSound } from './place-call.ts';
import type { SipCall } from './sip-call.ts';

const retryAfter: Parameters<IncomingCall['reject']>[1] = { headers: [['Retry-After', '5']] };

/** How a caller is turned away where the server has no room: it may try again after so many seconds. */
export const noRoom: Parameters<IncomingCall['reject']> = [503, retryAfter];

/**
 * How a caller is turned away where its agent alone has no room. By a 503 with Retry-After a carrier may keep away from the
 * whole server (RFC 3261 section 21.5.4), and so from everybody else's agents; 480 is about who is called.
 */
export const agentFull: Parameters<IncomingCall['reject']> = [480, retryAfter];

/**
 * Puts a call through to its agent: the agent is there before the caller is answered. What can't be is refused, and told
 * as the end of the call.
 */
export async function takeCall(
  { store, serverId, isGivenUp, addressFor }: Pick<PlaceParts, 'store' | 'serverId' | 'isGivenUp' | 'addressFor'>,
  call: SipCall,
  incoming: IncomingCall,
): Promise<void> {
  const { roomId, workspaceId } = call.terms;
  call.call = incoming;
  incoming.asker = workspaceId;
  incoming.listen({
    ...call.handlers(),
    onState: (dialog) => void store.note({ roomId, dialog }).catch(() => {}),
    onAnswered: ({ sdp }) => {
      call.noteAnswered();
      void (incoming.sdp === undefined ? takeSound(call, sdp) : call.talk());
    },
  });
  // The caller may be gone already.
  void incoming.ended.then((end) => call.over(end));
  const kept = { roomId, attempt: 1, workspaceId, serverId, at: new Date(), dialog: incoming.stored };
  if ((await store.begin(kept)) !== 'begun') return incoming.reject(480);
  let session: Awaited<ReturnType<SipCall['openMedia']>>;
  try {
    session = await call.openMedia(addressFor(incoming.source.address), ['PCMU', 'PCMA']);
  } catch {
    return incoming.reject(...noRoom);
  }
  call.trusted = [incoming.source.address];
  const answer = incoming.sdp === undefined ? session.offer() : await call.handlers().onOffer!(incoming.sdp);
  if (answer === undefined) return incoming.reject(488);
  const isThere = await call.connectAgent();
  // Frozen meanwhile, this server was given up: another may have ended the call already.
  if (isGivenUp()) return incoming.reject(...noRoom);
  if (isThere) incoming.answer(answer);
  else incoming.reject(480);
}
