import { MediaFault, MediaLostError, NoMediaRoomError } from '@trunkline/media';
import {
  deriveIdentifiers,
  escapeUser,
  type InviteOptions,
  SipSyntaxError,
  type Target,
  TransportError,
  type UserAgent,
} from '@trunkline/sip';
import type { CallRequest, PlaceResult } from '../call-gateway.ts';
import type { Trunk } from '../trunk.ts';
import type { CallStore } from './call-store.ts';
import { dialledNumber } from './dialled-number.ts';
import { meaningOfEnd } from './end-of-call.ts';
import type { SipCall } from './sip-call.ts';
import { credentialsOf, type TrunkAddress, trunkAddress, userAt } from './trunk-address.ts';

/** What a call is placed with. */
export interface PlaceParts {
  userAgent: UserAgent;
  store: CallStore;
  /** Under which the call was taken up: a lease that was lost is taken anew under another ID. */
  serverId: string;
  /** Whether that server's lease has ended: another may have taken over its calls. */
  isGivenUp: () => boolean;
  /** Makes what names a call on the wire, so that it can be found again. */
  secret: string;
  /** Our address as a peer sees it, for sound. */
  addressFor: (peer: string) => string;
  /** Notes that a trunk of that name is where the settings allow it to be. */
  locate: (address: TrunkAddress) => Promise<Target[]>;
}

/** After so long a call that was sent and is not refused counts as taken; its end is told as an event. */
const TAKEN_AFTER_MS = 1000;

const NEVER_DIALLED = 'The call was ended before it was dialled.';
/** Of ITU-T Q.850: no circuit or channel available. It passes, and is not the callee's doing. */
const NO_CHANNEL = 34;
const surelyNotSent = [TransportError, MediaFault, MediaLostError, SipSyntaxError];

const refused = (detail: string) => ({ status: 'rejected', outcome: 'trunk_error', detail }) as const;

/** Places a call over its trunk: one INVITE, which is kept before it leaves. */
export async function placeCall(
  parts: PlaceParts,
  call: SipCall,
  request: CallRequest & { trunk: Trunk },
): Promise<PlaceResult> {
  let invite: InviteOptions;
  try {
    invite = await prepare(parts, call, request);
  } catch (error) {
    const isEnding = call.isEnding;
    await call.discard();
    if (isEnding) return { status: 'rejected', outcome: 'cancelled', detail: NEVER_DIALLED };
    if (error instanceof NoMediaRoomError) return { ...refused(error.message), q850Cause: NO_CHANNEL };
    if (surelyNotSent.some((kind) => error instanceof kind)) return refused((error as Error).message);
    throw error;
  }
  if (call.isEnding) {
    await call.over({ kind: 'not_sent', code: 'cancelled', message: NEVER_DIALLED });
    return { status: 'accepted' };
  }
  return new Promise((resolve) => {
    let taken: NodeJS.Timeout | undefined;
    const accept = () => {
      clearTimeout(taken);
      resolve({ status: 'accepted' });
    };
    let isKept = false;
    let isForbidden = false;
    let isWithheld = false;
    call.call = parts.userAgent.invite({
      ...invite,
      onState: async (dialog) => {
        const { roomId, workspaceId, attempt } = request;
        // The address that the INVITE goes to was judged when it was connected to.
        if (dialog.phase === 'inviting') {
          call.sentTo = dialog.invite.target;
          call.trusted = [call.sentTo.address];
        }
        const hasLeft = dialog.phase !== 'inviting' || dialog.invite.early !== undefined;
        if (isKept && hasLeft) return void parts.store.note({ roomId, dialog }).catch(() => {});
        // What another server would cancel must be kept before it is sent.
        if (isKept) {
          if (!(await parts.store.note({ roomId, dialog }))) throw new Error('the call was ended elsewhere');
        } else {
          const at = new Date();
          const own = { roomId, attempt, workspaceId, serverId: parts.serverId, trunkId: request.trunk.id };
          const { doNotCallRevision } = request;
          const kept = await parts.store.begin({
            ...{ ...own, at, dialog, placing: { to: request.to, ...(request.owner && { owner: request.owner }) } },
            ...(doNotCallRevision !== undefined && { doNotCallRevision }),
          });
          isForbidden = kept === 'forbidden';
          isWithheld = kept === 'unwitnessed';
          if (isWithheld) throw new Error('no witness could be told of the call');
          if (kept !== 'begun') throw new Error(isForbidden ? NEVER_DIALLED : 'the room was placed before');
        }
        // Frozen meanwhile, this server was given up: another may have ended the call already, by what is kept of it.
        if (parts.isGivenUp()) {
          if (!isKept) await parts.store.withdraw({ roomId, at: new Date() });
          throw new Error('this server was given up');
        }
        isKept = true;
        taken ??= setTimeout(accept, TAKEN_AFTER_MS);
      },
      onProgress: ({ status, sdp }) => {
        accept();
        if (status >= 180) call.rings();
        if (sdp !== undefined) void call.takeAnswer(sdp);
      },
      onAnswered: ({ sdp }) => {
        accept();
        call.noteAnswered();
        void takeSound(call, sdp);
      },
      onEnded: (end) => {
        clearTimeout(taken);
        if (end.kind !== 'not_sent' || isKept || end.code === 'cancelled') {
          accept();
          return void call.over(end);
        }
        void call.discard();
        if (isForbidden) resolve({ status: 'rejected', outcome: 'cancelled', detail: NEVER_DIALLED });
        else if (isWithheld) resolve({ status: 'withheld', detail: end.message });
        else if (end.code === 'not_stored') resolve({ status: 'unknown', detail: end.message });
        else {
          const { outcome } = meaningOfEnd(end, undefined, 'callee');
          resolve({ status: 'rejected', outcome, detail: end.message });
        }
      },
    });
  });
}

/** Where the call goes, and its sound's sockets. Throws what keeps it from being sent. */
async function prepare(
  parts: PlaceParts,
  call: SipCall,
  request: CallRequest & { trunk: Trunk },
): Promise<InviteOptions> {
  const { trunk } = request;
  const address = trunkAddress(trunk);
  const targets = await parts.locate(address);
  const session = await call.openMedia(parts.addressFor(targets[0]!.address), trunk.codecs);
  return {
    ...callerOf(request, address),
    to: userAt(dialledNumber(request.to, trunk), address),
    targets,
    transport: address.transport,
    asker: address.asker,
    ...(address.outboundProxy && { outboundProxy: address.outboundProxy }),
    ...credentialsOf(trunk),
    sdp: session.offer(),
    identifiers: deriveIdentifiers(parts.secret, request.roomId),
    ringTimeoutMs: request.ringTimeoutSeconds * 1000,
    ...call.handlers(),
  };
}

/** Takes the answer of a callee, or of a caller to our offer: sound begins, or the call ends. */
export async function takeSound(call: SipCall, sdp: string | undefined): Promise<void> {
  if (sdp !== undefined && (await call.takeAnswer(sdp))) await call.talk();
  else call.hangUp({ endedBy: 'error', outcome: 'trunk_error' });
}

/** Who calls, as the trunk wants to be told. */
function callerOf(
  request: CallRequest & { trunk: Trunk },
  address: TrunkAddress,
): Pick<InviteOptions, 'from' | 'headers'> {
  const { trunk, from } = request;
  const number = dialledNumber(from, { ...trunk, dialPrefix: '' });
  const user =
    trunk.fromUser ??
    (trunk.callerIdHeader === 'from' || trunk.username === undefined ? number : escapeUser(trunk.username));
  const asserted = `<${userAt(number, address, trunk.fromDomain)}>`;
  const headers = Object.entries(trunk.headers);
  if (trunk.callerIdHeader === 'pai') headers.push(['P-Asserted-Identity', asserted]);
  if (trunk.callerIdHeader === 'ppi') headers.push(['P-Preferred-Identity', asserted]);
  if (trunk.callerIdHeader === 'rpid') headers.push(['Remote-Party-ID', `${asserted};party=calling;privacy=off`]);
  return { from: `<${userAt(user, address, trunk.fromDomain)}>`, headers };
}
