import type { CallEnd } from './call-end.ts';
import { setBody } from './message.ts';
import type { Reason } from './reason.ts';
import { OfferRefused, sendUpdate } from './sent-offers.ts';
import type { Session } from './session.ts';
import type { StoredDialog } from './stored-dialog.ts';

/** What outgoing and incoming calls have in common. */
export interface Call {
  readonly callId: string;
  /** Resolves once, as `onEnded` is told. */
  readonly ended: Promise<CallEnd>;
  /** What another process needs to end the call; undefined before anything was sent. */
  readonly stored: StoredDialog | undefined;
  /** Ends the call, whatever its state is. Resolves when the peer has heard of it, or has not in 64 × T1; `ended` tells at once. */
  hangUp(reason?: Reason): Promise<CallEnd>;
  /**
   * Offers a changed session by re-INVITE, or only refreshes it.
   *
   * @returns the peer's answer, where something was offered
   * @throws OfferRefused, and the session is as before
   */
  update(offer?: string): Promise<string | undefined>;
  /** Sends an INFO, such as a key pressed. @returns the peer's status, undefined where none came */
  info(contentType: string, body: string): Promise<number | undefined>;
}

/** The `update` of a call whose session may not be there yet. */
export async function updateSession(
  session: Session | undefined,
  offer: string | undefined,
): Promise<string | undefined> {
  if (!session) throw new OfferRefused(undefined, 'The call is not answered.');
  return sendUpdate(session, offer);
}

/** The `info` of a call whose session may not be there yet. */
export async function sendInfo(
  session: Session | undefined,
  contentType: string,
  body: string,
): Promise<number | undefined> {
  if (session?.phase !== 'answered') return undefined;
  const exchanged = await session.request('INFO', (request) => setBody(request, contentType, body));
  return exchanged.kind === 'response' ? exchanged.response.status : undefined;
}
