import type { StoredDialog } from '@trunkline/sip';
import type { Clock } from '../../../foundation/values/clock.ts';
import type { EndedCall, NotSent } from '../../conversation/leg.ts';
import type { CallTimes } from '../call-gateway.ts';
import type { CallStore } from './call-store.ts';

/** What calls are kept with. */
export interface KeepingParts {
  store: CallStore;
  clock: Clock;
  /** Under which the call was taken up: a lease that was lost is taken anew under another ID. */
  serverId: string;
  /** Whether that server's lease has ended: another may have taken over its calls. */
  isGivenUp: () => boolean;
}

type Begun = Awaited<ReturnType<CallStore['begin']>>;
type Beginning = Omit<Parameters<CallStore['begin']>[0], 'at' | 'serverId'>;

/** What another process needs to end a call. */
export class KeptCall {
  readonly #parts: KeepingParts;
  readonly #roomId: string;
  #begun: Promise<Begun> | undefined;

  constructor(parts: KeepingParts, roomId: string) {
    this.#parts = parts;
    this.#roomId = roomId;
  }

  /** Keeps it before anything is sent. */
  begin(call: Beginning): Promise<Begun> {
    const { store, clock, serverId } = this.#parts;
    this.#begun = store.begin({ ...call, serverId, at: clock.now() });
    return this.#begun;
  }

  /**
   * Keeps a call that is placed, before its INVITE leaves, and before it leaves again.
   * @param call at first
   * @returns nothing once it may leave, or why it may not
   */
  async mayLeave(call: Beginning, isFirst: boolean): Promise<NotSent | undefined> {
    const { store, clock, isGivenUp } = this.#parts;
    const { roomId, dialog } = call;
    if (isFirst) {
      const begun = await this.begin(call);
      if (begun !== 'begun') return notBegun[begun];
    } else if (!(await store.note({ roomId, ...(dialog && { dialog }) }))) return 'not_kept';
    if (!isGivenUp()) return undefined;
    // Frozen meanwhile, this server was given up: another may have ended the call already, by what is kept of it.
    if (isFirst) await store.withdraw({ roomId, at: clock.now() });
    return 'not_kept';
  }

  note(dialog: StoredDialog): void {
    void this.#parts.store.note({ roomId: this.#roomId, dialog }).catch(() => {});
  }

  async times(times: CallTimes): Promise<void> {
    await this.#parts.store.note({ roomId: this.#roomId, ...times });
  }

  /** Keeps its end once nothing else of it is being kept. */
  async end(ended: EndedCall): Promise<void> {
    await this.#begun?.catch(() => {});
    await this.#parts.store.end(ended);
  }
}

const notBegun: Record<Exclude<Begun, 'begun'>, NotSent> = {
  kept: 'not_kept',
  forbidden: 'forbidden',
  unwitnessed: 'unwitnessed',
};
