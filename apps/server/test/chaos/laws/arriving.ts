import { isExcused } from './dialling.ts';
import { groupsOf, type Law } from './law.ts';

/** Whoever calls us and is answered is on record once, as somebody who was. */
export const arrivalsKept: Law = {
  name: 'a call that arrives is kept as it went',
  breaches: (history) => {
    const kept = groupsOf(
      history.calls.filter(({ direction }) => direction === 'inbound'),
      ({ from_number }) => from_number,
    );
    return history.arrived.flatMap((call) => {
      const rows = kept.get(call.from) ?? [];
      const who = `+${call.from}, ${new Date(call.at).toISOString()}`;
      if (rows.length > 1) return [`${who}: kept as the calls ${rows.map(({ id }) => id).join(', ')}`];
      if (call.answeredAt === undefined) return [];
      const [row] = rows;
      if (!row) return [`${who}: answered, and not kept`];
      return row.outcome === 'answered' || isExcused(call, history)
        ? []
        : [`${who}: answered, and kept as ${row.outcome}, call ${row.id}`];
    });
  },
};
