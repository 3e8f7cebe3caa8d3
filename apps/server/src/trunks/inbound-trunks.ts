import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { Trunk } from '../telephony/gateway.ts';
import { given, type TrunkRow } from './trunk.ts';

type InboundTrunk = Pick<Trunk, 'id' | 'terminationUrl' | 'transport' | 'outboundProxy' | 'ipAllowlist' | 'country'>;

/** The trunks and numbers of all workspaces, for calls that arrive. */
export const inboundTrunks = (database: Database) => ({
  async trunks(): Promise<InboundTrunk[]> {
    const { rows } = await database.inEngine((tx) =>
      sql<TrunkRow>`
        select id, termination_url, transport, outbound_proxy, ip_allowlist, country from trunks`.execute(tx.db),
    );
    return rows.map((row) => ({
      id: row.id,
      terminationUrl: row.termination_url,
      transport: row.transport,
      ipAllowlist: row.ip_allowlist,
      ...given({ outboundProxy: row.outbound_proxy, country: row.country }),
    }));
  },

  /** The one of these numbers that is active and calls over one of these trunks. */
  async numberOf(numbers: readonly string[], trunkIds: readonly string[]): Promise<string | undefined> {
    const { rows } = await database.inEngine((tx) =>
      sql<{ phone_number: string }>`
        select phone_number from phone_numbers
        where phone_number = any(${numbers}) and trunk_id = any(${trunkIds}::uuid[]) and status = 'active'
        limit 1`.execute(tx.db),
    );
    return rows[0]?.phone_number;
  },
});
