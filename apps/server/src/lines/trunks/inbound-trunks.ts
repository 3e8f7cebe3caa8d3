import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import { coalesce } from '../../foundation/values/coalesce.ts';
import type { InboundDirectory, InboundTrunk, OwnedNumber } from '../telephony/sip/inbound-peers.ts';
import { readTrunk } from './check-trunk.ts';
import { readTrunks } from './store.ts';
import { given, type TrunkRow } from './trunk.ts';
import { allGrants, type Named, ungranted } from './trunk-grants.ts';

/** Statements at a time, of different trunks each: those of one peer keep no other's waiting. */
const SETS_AT_ONCE = 2;

/** The trunks and numbers of all workspaces, for calls that arrive, and for calls that another server has placed. */
export const inboundTrunks = ({
  database,
  secrets,
  log,
}: {
  database: Database;
  secrets: Secrets;
  log: Logger;
}): InboundDirectory => ({
  numbersOf: numbersOf(database),

  async trunks() {
    const [trunks, numbers, alike, grants] = await database.inEngine((tx) =>
      Promise.all([
        sql<Row>`
          select workspace_id, id, termination_url, transport, outbound_proxy, ip_allowlist, country, headers_to_agent, dtmf,
            media_encryption, keys_in_clear,
            coalesce(auth_username, username) as username from trunks`.execute(tx.db),
        sql<{ trunk_id: string; numbers: string[] }>`
          select t.id as trunk_id, array_agg(n.phone_number) as numbers from trunks t
          join phone_numbers n on n.workspace_id = t.workspace_id and n.trunk_id = t.id
          where t.inbound_digest and n.status = 'active' group by t.id`.execute(tx.db),
        // What is dialled in one country and in another for two numbers ends alike.
        sql<{ trunk_id: string; numbers: string[] }>`
          with digest as materialized (
            select distinct right(n.phone_number, 6) as ending from trunks t
            join phone_numbers n on n.workspace_id = t.workspace_id and n.trunk_id = t.id
            where t.inbound_digest and n.status = 'active')
          select n.trunk_id, array_agg(n.phone_number) as numbers from digest d
          join phone_numbers n on right(n.phone_number, 6) = d.ending and n.status = 'active'
          where n.trunk_id is not null group by n.trunk_id`.execute(tx.db),
        allGrants(tx),
      ]),
    );
    const digestNumbers = new Map(numbers.rows.map((row) => [row.trunk_id, row.numbers]));
    const alikeNumbers = new Map(alike.rows.map((row) => [row.trunk_id, row.numbers]));
    return trunks.rows.flatMap((trunk) => {
      const row = grants ? asGranted(trunk, grants(trunk.workspace_id)) : trunk;
      return row ? shape(row, digestNumbers, alikeNumbers) : [];
    });
  },

  async trunk({ workspaceId, trunkId }) {
    const row = await database.inWorkspace(workspaceId, async (tx) => (await readTrunks(tx, [trunkId]))[0]);
    return row && readTrunk({ secrets, log }, row);
  },
});

/** What is asked of the same trunks in one turn of the event loop is asked in one statement. */
function numbersOf(database: Database): InboundDirectory['numbersOf'] {
  type Asked = { numbers: readonly string[]; trunkIds: readonly string[] };
  const ask = coalesce<Asked, OwnedNumber[]>(
    async (asked) => {
      const numbers = [...new Set(asked.flatMap((each) => each.numbers))];
      const { trunkIds } = asked[0]!;
      const { rows } = await database.inEngine((tx) =>
        sql<OwnedNumber>`
          select phone_number as number, workspace_id as "workspaceId", trunk_id as "trunkId", shared from phone_numbers
          where phone_number = any(${numbers}) and trunk_id = any(${trunkIds}::uuid[]) and status = 'active'
          order by id`.execute(tx.db),
      );
      return asked.map((each) => rows.filter(({ number }) => each.numbers.includes(number)));
    },
    {
      sets: SETS_AT_ONCE,
      fits: ([first], { trunkIds }) => first === undefined || isDeepStrictEqual(first.trunkIds, trunkIds),
    },
  );
  return (numbers, trunkIds) => ask({ numbers, trunkIds });
}

type Row = Named &
  Pick<TrunkRow, 'workspace_id' | 'id' | 'transport' | 'country' | 'headers_to_agent' | 'username' | 'dtmf'> &
  Pick<TrunkRow, 'media_encryption' | 'keys_in_clear'>;
type NumbersOf = ReadonlyMap<string, string[]>;

const shape = (row: Row, digestNumbers: NumbersOf, alikeNumbers: NumbersOf): InboundTrunk => ({
  workspaceId: row.workspace_id,
  id: row.id,
  terminationUrl: row.termination_url,
  transport: row.transport,
  ipAllowlist: row.ip_allowlist,
  headersToAgent: row.headers_to_agent,
  dtmf: row.dtmf,
  mediaEncryption: row.media_encryption,
  keysInClear: row.keys_in_clear,
  digestNumbers: digestNumbers.get(row.id) ?? [],
  alikeNumbers: alikeNumbers.get(row.id) ?? [],
  ...given({ outboundProxy: row.outbound_proxy, country: row.country, digestUsername: row.username }),
});

/** A trunk with those callers that its workspace is granted; nothing if whom it calls is another's. */
function asGranted(trunk: Row, isCovered: (address: string) => boolean): Row | undefined {
  const missing = ungranted(trunk, isCovered).map(({ field }) => field);
  if (missing.includes('terminationUrl') || missing.includes('outboundProxy')) return undefined;
  return { ...trunk, ip_allowlist: trunk.ip_allowlist.filter((_entry, at) => !missing.includes(`ipAllowlist/${at}`)) };
}
