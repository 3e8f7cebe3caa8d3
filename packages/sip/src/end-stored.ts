import type { Core } from './core.ts';
import { dialogRequest, openDialogFlow } from './dialog.ts';
import { type Credentials, DigestClient } from './digest-client.ts';
import { exchange } from './exchange.ts';
import { type Reason, writeReason } from './reason.ts';
import { type StoredDialog, storedRequest } from './stored-dialog.ts';
import { TransportError } from './transport.ts';
import { abandonInvite } from './unwanted-invite.ts';

export interface EndStoredOptions {
  /** For a peer that challenges the BYE. */
  credentials?: Credentials;
  reason?: Reason;
}

/** What came of ending a stored call. */
export type StoredEnd =
  /** It was not answered, and is cancelled, or had ended meanwhile with this final status. */
  | { kind: 'cancelled'; status: number }
  /** It was, or had just been, answered, and is hung up. */
  | { kind: 'hung_up' }
  /** The peer doesn't know it: it had ended. */
  | { kind: 'gone' }
  /** The peer did not say, or could not be reached: it may still ring or talk. */
  | { kind: 'silence'; message: string };

/** Ends a call that another process has placed or taken: by CANCEL on its INVITE's branch, or by BYE. */
export async function endStored(
  core: Core,
  stored: StoredDialog,
  { credentials, reason }: EndStoredOptions = {},
): Promise<StoredEnd> {
  const digest = new DigestClient(credentials, core.random);
  if (stored.phase === 'inviting') {
    const request = storedRequest(stored.invite);
    const abandoned = await abandonInvite(core, request, stored.invite.target, digest, true, reason);
    if (abandoned === 'silence') return { kind: 'silence', message: 'No answer came to the CANCEL.' };
    if (abandoned === 'gone') return { kind: 'gone' };
    return abandoned.status < 300 ? { kind: 'hung_up' } : { kind: 'cancelled', status: abandoned.status };
  }
  const dialog = structuredClone(stored.dialog);
  try {
    const flow = await openDialogFlow(core, dialog, await core.open(dialog.peer));
    const make = (over: typeof flow) => {
      const bye = dialogRequest(core, dialog, over, 'BYE');
      if (reason) bye.headers.add('reason', writeReason(reason));
      return bye;
    };
    const exchanged = await exchange(core, flow, make, digest);
    if (exchanged.kind === 'silence') return { kind: 'silence', message: exchanged.message };
    if (exchanged.kind === 'not_sent') return { kind: 'silence', message: exchanged.error.message };
    const { status, phrase } = exchanged.response;
    if (status < 300) return { kind: 'hung_up' };
    return status === 481 || status === 408
      ? { kind: 'gone' }
      : { kind: 'silence', message: `The peer answered BYE with ${status} ${phrase}.` };
  } catch (error) {
    if (error instanceof TransportError) return { kind: 'silence', message: error.message };
    throw error;
  }
}
