import type { CallEnd, ProbeReport, Target } from '@trunkline/sip';
import type { Logger } from 'pino';
import { someAtOnce } from '../../../foundation/values/some-at-once.ts';
import type { Trunk } from '../trunk.ts';
import { type TargetFault, TargetHealth } from './target-health.ts';

/** The targets of a trunk that nobody has called over for so long are forgotten. */
const UNUSED_MS = 600_000;
const ASKED_AT_ONCE = 20;

/**
 * How the addresses behind trunks fare, as calls and OPTIONS of this process show it. Each is judged by itself (RFC 3263
 * section 4.3), and for each trunk apart: what is sent over one says nothing of another's.
 */
export interface TrunkTargets {
  /** The targets that a call may go to, the best first; none if each leaves an INVITE without any answer. */
  open(trunk: Trunk, located: readonly Target[]): Target[];
  /** An INVITE leaves for a target. */
  sent(trunkId: string, roomId: string, target: Target): void;
  /** It was answered, if only by 100. */
  answered(trunkId: string, roomId: string): void;
  /** It surely rang nobody there, and goes on to the next. */
  passedOn(trunkId: string, roomId: string, target: Target, why: TargetFault): void;
  /** It is over. */
  over(trunkId: string, roomId: string, end: CallEnd): void;
  /**
   * Asks the targets of trunks that have several, and those that are silent, by OPTIONS.
   * @param ask one of them
   */
  check(ask: (trunk: Trunk, target: Target) => Promise<ProbeReport['reachability']>): Promise<void>;
}

interface Known {
  trunk: Trunk;
  usedAt: number;
  targets: Map<string, TargetHealth>;
}

/** @param now milliseconds of a clock that only goes forward */
export function createTrunkTargets(log: Logger, now: () => number = () => performance.now()): TrunkTargets {
  const trunks = new Map<string, Known>();
  const healthOf = (trunkId: string, target: Target) => trunks.get(trunkId)?.targets.get(keyOf(target));
  /** The target that an INVITE waited for, if it did. */
  const waitedFor = (trunkId: string, roomId: string) =>
    [...(trunks.get(trunkId)?.targets.values() ?? [])].find((health) => health.over(roomId));

  const begin = (trunkId: string, target: Target) =>
    new TargetHealth(target, now, (silentFor) => {
      const which = { trunkId, target: keyOf(target) };
      if (silentFor) log.warn(which, `a target of a trunk left ${silentFor} without an answer`);
      else log.info(which, 'a target of a trunk answers again');
    });

  return {
    open(trunk, located) {
      const before = trunks.get(trunk.id)?.targets;
      const targets = new Map(
        located.map((target) => [keyOf(target), before?.get(keyOf(target)) ?? begin(trunk.id, target)]),
      );
      const named = [...targets.values()];
      // A name that leads elsewhere now must not hide an INVITE that is not answered.
      for (const [key, health] of before ?? []) if (health.isWaitedFor) targets.set(key, health);
      trunks.set(trunk.id, { trunk, usedAt: now(), targets });
      const taking = named.filter(({ isClosed }) => !isClosed);
      if (taking.length > 0)
        return taking.sort((a, b) => Number(a.comesAfter) - Number(b.comesAfter)).map(({ target }) => target);
      // If there is no other, one call at a time may find out whether the one that fell silent first speaks again.
      const [first] = named
        .filter(({ isWaitedFor }) => !isWaitedFor)
        .sort((a, b) => (a.silentSince ?? 0) - (b.silentSince ?? 0));
      return first ? [first.target] : [];
    },
    sent: (trunkId, roomId, target) => healthOf(trunkId, target)?.sent(roomId),
    answered: (trunkId, roomId) => waitedFor(trunkId, roomId)?.speak(),
    passedOn(trunkId, roomId, target, why) {
      const health = healthOf(trunkId, target);
      health?.over(roomId);
      health?.fail(why);
    },
    over(trunkId, roomId, end) {
      const health = waitedFor(trunkId, roomId);
      if (end.kind === 'silence') health?.fallSilent('an INVITE');
      else if (end.kind === 'rejected') health?.fail(end);
    },
    async check(ask) {
      const due: { trunk: Trunk; health: TargetHealth }[] = [];
      for (const [id, { trunk, usedAt, targets }] of trunks) {
        const all = [...targets.values()];
        if (now() - usedAt >= UNUSED_MS && !all.some(({ isWaitedFor }) => isWaitedFor)) trunks.delete(id);
        else if (trunk.probe !== 'none' && (all.length > 1 || all.some(({ isClosed }) => isClosed)))
          due.push(...all.map((health) => ({ trunk, health })));
      }
      await someAtOnce(ASKED_AT_ONCE, due, async ({ trunk, health }) => health.learn(await ask(trunk, health.target)));
    },
  };
}

const keyOf = ({ transport, address, port }: Target) => `${transport}:${address}:${port}`;
