import { groupsOf, type Law } from './law.ts';

/** From the moment in which all servers say that dialing is held, what was let go before may be on its way so long, in milliseconds. */
const ON_ITS_WAY_MS = 1000;

/** Nobody's phone rings a second time for a call that the database has lost, by the carrier's own record. */
export const rungOnceOverLoss: Law = {
  name: 'nobody is rung twice though the database has lost the call',
  breaches: ({ loss, invited }) =>
    [...groupsOf(invited, ({ to }) => to)].flatMap(([to, calls]) => {
      const names = new Set(calls.filter(({ at }) => loss && at >= loss.from).map(({ callId }) => callId));
      return names.size > 1 ? [`+${to} rang ${names.size} times`] : [];
    }),
};

/** A database that has lost calls is found out. */
export const lossFound: Law = {
  name: 'a loss is found out',
  breaches: ({ loss }) => (loss && loss.heldAt === undefined ? [`by ${loss.by}: dialing was not held`] : []),
};

/** While dialing is held nobody is called. */
export const silentWhileHeld: Law = {
  name: 'nobody is called while dialing is held',
  breaches: ({ loss, invited }) => {
    const { heldAt = Number.POSITIVE_INFINITY, confirmedAt = Number.POSITIVE_INFINITY } = loss ?? {};
    return invited
      .filter(({ at }) => at > heldAt + ON_ITS_WAY_MS && at < confirmedAt)
      .map(({ to, at }) => `+${to} rang ${at - heldAt} ms after all servers held`);
  },
};
