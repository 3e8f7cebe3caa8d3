import type { CallEnd, Rejected } from './call-end.ts';
import type { SipResponse } from './message.ts';
import type { StoredDialog } from './stored-dialog.ts';
import type { Target, TransportError, TransportName } from './transport.ts';

/** A provisional response. 180 to 183 are ringing; early media is no answer. */
export interface Progress {
  status: number;
  phrase: string;
  /** The session description in it. */
  sdp?: string;
  /** The tag of the fork that says so. */
  fork?: string;
  response: SipResponse;
}

/** A body of an INFO request, such as a key that was pressed. */
export interface Info {
  contentType: string;
  body: string;
}

/** What a call tells its user. What these throw goes to the user agent's `onError`. */
export interface CallHandlers {
  /** Outgoing calls. */
  onProgress?(progress: Progress): void;
  /** Outgoing calls. A target surely rang nobody: the INVITE didn't reach it, or was refused as out of service. The next one is asked. */
  onPassedOn?(target: Target, why: TransportError | Rejected): void;
  /**
   * The call is answered. Outgoing: `sdp` is that of the 200, or the one before it of the same fork. Incoming: when the
   * ACK came.
   */
  onAnswered?(answered: { sdp?: string }): void;
  /**
   * The peer offers a session (again), by re-INVITE or UPDATE, or where our INVITE had no offer. Returns the answer, or
   * undefined to refuse it with 488: the session stays as it was. Where `offer` is undefined the peer asks for an offer
   * of ours. Without this an offer that is not the one before is refused. The answer goes `over` what the offer came by.
   */
  onOffer?(offer: string | undefined, over: TransportName): string | undefined | Promise<string | undefined>;
  /** What `onOffer` returned last was not sent: the peer took its offer back, or the call ended. The session stays as it was. */
  onAnswerUnsent?(): void;
  /** The peer's answer to an offer that `onOffer` or `answer` made, and to a refresh of the session if it says something new. */
  onAnswer?(sdp: string): void;
  onInfo?(info: Info): void;
  /** Headers that did not fit into a UDP datagram, by name, were left out of the INVITE. */
  onHeadersDropped?(names: string[]): void;
  /** What to store so that another process can end the call. Before the INVITE is sent it is waited for. */
  onState?(state: StoredDialog): void | Promise<void>;
  /** Once, at the end. Nothing follows. */
  onEnded?(end: CallEnd): void;
}
