import { setTimeout as sleep } from 'node:timers/promises';
import { escapeUser, type RegisterOptions, type Registration, type RegistrationState } from '@trunkline/sip';
import type { Logger } from 'pino';
import { every, type Repeating } from '../../../platform/jobs/every.ts';
import type { Trunk } from '../trunk.ts';
import { credentialsOf, type TrunkAddress, trunkAddress, userAt } from './trunk-address.ts';

/** How the registration with a trunk stands, as people see it. */
export interface RegistrationStanding {
  status: 'registering' | 'registered' | 'failed';
  /** Why it failed. */
  message?: string;
}

/** What names a trunk, by UUIDs. */
export interface TrunkKey {
  workspaceId: string;
  trunkId: string;
}

/** A trunk that this server registers with. */
export interface TakenTrunk {
  workspaceId: string;
  trunk: Trunk;
  /** Whether its workspace may call it; else nothing is sent there. */
  isGranted: boolean;
}

/** The trunks of all workspaces that are registered with, each by one server at a time. */
export interface RegisteredTrunks {
  /**
   * Takes the server's share: renews those that it holds, and takes some that no server holds, or whose server's time is
   * over. What it holds beyond its share it gives back.
   * @returns all that it holds now
   */
  take(serverId: string, seconds: number): Promise<TakenTrunk[]>;
  /** Keeps how a registration stands, where the server still holds it, and tells of a change. */
  note(serverId: string, key: TrunkKey, standing: RegistrationStanding): Promise<void>;
  /** Gives all back, and takes no share any more, so that other servers needn't wait. */
  leave(serverId: string): Promise<void>;
}

export interface RegistrarOptions {
  trunks: RegisteredTrunks;
  serverId: () => string;
  /** For how long trunks are taken. */
  leaseSeconds: number;
  register: (options: RegisterOptions) => Pick<Registration, 'stop' | 'abandon'>;
  /** Notes that a trunk of that name is where the settings allow it to be. */
  locate: (address: TrunkAddress) => Promise<unknown>;
  log: Logger;
}

/** Registers with trunks. */
export interface Registrar extends Repeating {
  /** The IDs of the trunks that are registered with at an address: calls may come from there. */
  at(address: string): ReadonlySet<string>;
}

const NOT_GRANTED = 'The address of the trunk is not granted to the workspace.';
const LOOK_MS = 5000;
/** How long a registrar may take to let go of us, in milliseconds. */
const STOP_MS = 2000;

/** A registration that this server keeps up. */
interface Held {
  key: TrunkKey;
  serverId: string;
  /** What is registered, to see whether that changes. */
  terms: string | undefined;
  registration: Pick<Registration, 'stop' | 'abandon'>;
  /** Where the registrar is. */
  address?: string | undefined;
  /** Its states are kept in their order. */
  noted: Promise<void>;
}

/** Which trunks are registered with at which address. */
function registeredAddresses() {
  const registeredAt = new Map<string, Set<string>>();
  return {
    at: (address: string): ReadonlySet<string> => registeredAt.get(address) ?? nobody,
    moveTo(entry: Held, address: string | undefined): void {
      const { trunkId } = entry.key;
      const before = registeredAt.get(entry.address ?? '');
      before?.delete(trunkId);
      if (before?.size === 0) registeredAt.delete(entry.address!);
      entry.address = address;
      if (address !== undefined) registeredAt.set(address, (registeredAt.get(address) ?? new Set()).add(trunkId));
    },
  };
}

/** Begins to register with the trunks that want it, each by one server at a time. */
export function startRegistrar(options: RegistrarOptions): Registrar {
  const { trunks, leaseSeconds, log } = options;
  const held = new Map<string, Held>();
  const { moveTo, at } = registeredAddresses();
  let heldUntil = 0;

  function note(entry: Held, standing: RegistrationStanding): void {
    const { serverId, key } = entry;
    entry.noted = entry.noted
      .then(() => trunks.note(serverId, key, standing))
      .catch((error) => log.warn({ err: error, ...key }, 'the state of a registration could not be kept'));
  }

  function hear(entry: Held, state: RegistrationState): void {
    if (held.get(entry.key.trunkId) !== entry) return;
    moveTo(entry, state.status === 'registered' ? state.flow.address : undefined);
    if (state.status === 'registered') {
      note(entry, { status: 'registered' });
    } else if (state.status === 'failed') {
      const { message, sipStatus } = state;
      log.warn({ trunkId: entry.key.trunkId, reason: message, sipStatus }, 'a trunk could not be registered with');
      note(entry, { status: 'failed', message: message.slice(0, 255) });
    }
  }

  function begin(taken: TakenTrunk, serverId: string): void {
    const { workspaceId, trunk, isGranted } = taken;
    const entry: Held = {
      key: { workspaceId, trunkId: trunk.id },
      serverId,
      terms: termsKey(taken),
      registration: { stop: async () => {}, abandon: () => {} },
      noted: Promise.resolve(),
    };
    held.set(trunk.id, entry);
    if (!isGranted) {
      note(entry, { status: 'failed', message: NOT_GRANTED });
      return;
    }
    note(entry, { status: 'registering' });
    const register = () => {
      if (held.get(trunk.id) !== entry) return;
      entry.registration = options.register({ ...termsOf(trunk), onState: (state) => hear(entry, state) });
    };
    // A name that leads nowhere must not hold up the others' leases. It fails in the registration, which says why.
    void options.locate(trunkAddress(trunk)).then(register, register);
  }

  async function letGo(entries: readonly Held[]): Promise<void> {
    for (const entry of entries) {
      held.delete(entry.key.trunkId);
      moveTo(entry, undefined);
    }
    const over = entries.map(({ registration }) => registration.stop());
    await Promise.race([Promise.allSettled(over), sleep(STOP_MS)]);
  }

  const look = every(
    Math.min(LOOK_MS, (leaseSeconds * 1000) / 3),
    async (signal) => {
      const asked = performance.now();
      const serverId = options.serverId();
      let taken: TakenTrunk[];
      try {
        taken = await trunks.take(serverId, leaseSeconds);
      } catch (error) {
        // Another server registers with them by now.
        if (performance.now() >= heldUntil) await letGo([...held.values()]);
        throw error;
      }
      heldUntil = asked + leaseSeconds * 1000;
      const now = new Map(taken.map((each) => [each.trunk.id, each]));
      const changed = [...held.values()].filter((entry) => termsKey(now.get(entry.key.trunkId)) !== entry.terms);
      // Where nothing may be sent any more nobody is told: what is registered there runs out.
      for (const { key, registration } of changed)
        if (now.get(key.trunkId)?.isGranted === false) registration.abandon();
      await letGo(changed);
      if (signal.aborted) return;
      for (const each of taken) if (!held.has(each.trunk.id)) begin(each, serverId);
    },
    { name: 'trunk registrations', log },
  );

  return {
    ...look,
    at,
    close: async () => {
      await look.close();
      const entries = [...held.values()];
      await letGo(entries);
      await Promise.all(entries.map(({ noted }) => noted));
      for (const serverId of new Set([...entries.map((entry) => entry.serverId), options.serverId()])) {
        await trunks
          .leave(serverId)
          .catch((error) => log.warn({ err: error }, 'registrations could not be given back; they run out'));
      }
    },
  };
}

const nobody: ReadonlySet<string> = new Set();

/** What is done with a trunk, to see whether that changes. */
const termsKey = (taken: TakenTrunk | undefined) => taken && JSON.stringify([taken.isGranted, termsOf(taken.trunk)]);

/** What is registered with a trunk: its user at its domain. */
function termsOf(trunk: Trunk): RegisterOptions {
  const address = trunkAddress(trunk);
  const user = trunk.fromUser ?? escapeUser(trunk.username ?? '');
  return {
    registrar: address.uri,
    address: userAt(user, address, trunk.fromDomain),
    transport: address.transport,
    asker: address.asker,
    ...(address.outboundProxy && { outboundProxy: address.outboundProxy }),
    ...credentialsOf(trunk),
    expiresSeconds: trunk.registerExpiresSeconds,
  };
}
