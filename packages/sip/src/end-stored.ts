import type { Core } from './core.ts';
import { type Dialog, dialogRequest, openDialogFlow } from './dialog.ts';
import { type Credentials, DigestClient } from './digest-client.ts';
import { exchange } from './exchange.ts';
import { type Reason, writeReason } from './reason.ts';
import { copyDialog, type StoredDialog, type StoredInvite, storedRequest } from './stored-dialog.ts';
import { type Flow, TransportError } from './transport.ts';
import { type Abandoned, abandonInvite } from './unwanted-invite.ts';

export interface EndStoredOptions {
  /** For a peer that challenges the BYE. */
  credentials?: Credentials;
  reason?: Reason;
  /** On whose behalf the DNS is asked, for the user agent's `turns`. */
  asker?: string;
}

/** What came of ending a stored call. */
export type StoredEnd =
  /** It was not answered, and is cancelled, or had ended meanwhile, with this final status where that came here. */
  | { kind: 'cancelled'; status?: number }
  /** It was, or had just been, answered, and is hung up. */
  | { kind: 'hung_up' }
  /** The peer doesn't know it: it had ended. */
  | { kind: 'gone' }
  /** The peer did not say, or could not be reached: it may still ring or talk. */
  | { kind: 'silence'; message: string };

/** CSeqs that the process before may have used since it stored the dialog of a phone that rings. */
const SPARE_CSEQS = 100;

/** Ends a call that another process has placed or taken: by CANCEL on its INVITE's branch, or by BYE. */
export function endStored(
  core: Core,
  stored: StoredDialog,
  { credentials, reason }: EndStoredOptions = {},
): Promise<StoredEnd> {
  const digest = new DigestClient(credentials, core.random);
  return stored.phase === 'inviting'
    ? cancelStored(core, stored.invite, digest, reason)
    : hangUpStored(core, copyDialog(stored.dialog), digest, reason);
}

/**
 * The final answer to the INVITE goes to where that came from (RFC 3261 section 18.2.2), mostly to nobody; so does that
 * to the CANCEL, where a process before sent it too. So once the CANCEL has had time to arrive, the phones that rang are
 * asked by a BYE in their dialogs (section 15): who doesn't know it any more is cancelled, and who had answered
 * meanwhile, or still rings, is hung up.
 */
function cancelStored(
  core: Core,
  invite: StoredInvite,
  digest: DigestClient,
  reason: Reason | undefined,
): Promise<StoredEnd> {
  return new Promise((resolve, reject) => {
    let isKnown = false;
    const askPhones = async () => {
      if (isKnown) return;
      const ends = await Promise.all(
        (invite.early ?? []).map((dialog) =>
          hangUpStored(core, { ...dialog, localCseq: dialog.localCseq + SPARE_CSEQS }, digest, reason),
        ),
      );
      const kinds = new Set(ends.map(({ kind }) => kind));
      if (kinds.has('hung_up')) resolve({ kind: 'hung_up' });
      else if (kinds.has('gone') && kinds.size === 1) resolve({ kind: 'cancelled' });
    };
    core.timers.after(core.values.t2, () => void askPhones().catch(reject));
    abandonInvite(core, storedRequest(invite), invite.target, digest, true, reason).then((abandoned) => {
      isKnown = true;
      resolve(endOf(abandoned));
    }, reject);
  });
}

function endOf(abandoned: Abandoned): StoredEnd {
  if (abandoned === 'silence') return { kind: 'silence', message: 'No answer came to the CANCEL.' };
  if (abandoned === 'gone') return { kind: 'gone' };
  return abandoned.status < 300 ? { kind: 'hung_up' } : { kind: 'cancelled', status: abandoned.status };
}

async function hangUpStored(
  core: Core,
  dialog: Dialog,
  digest: DigestClient,
  reason: Reason | undefined,
): Promise<StoredEnd> {
  try {
    const flow = await openDialogFlow(core, dialog, await core.open(dialog.peer));
    const make = (over: Flow) => {
      const bye = dialogRequest(core, dialog, over, 'BYE');
      if (reason) bye.headers.add('reason', writeReason(reason));
      return bye;
    };
    const exchanged = await exchange(core, flow, make, digest);
    if (exchanged.kind === 'silence') return { kind: 'silence', message: exchanged.message };
    if (exchanged.kind === 'not_sent') return { kind: 'silence', message: exchanged.error.message };
    const { status, phrase } = exchanged.response;
    if (status < 300) return { kind: 'hung_up' };
    return status === 481
      ? { kind: 'gone' }
      : { kind: 'silence', message: `The peer answered BYE with ${status} ${phrase}.` };
  } catch (error) {
    if (error instanceof TransportError) return { kind: 'silence', message: error.message };
    throw error;
  }
}
