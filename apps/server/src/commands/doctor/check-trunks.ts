import { sql } from 'kysely';
import { openProber } from '../../compose-adapters.ts';
import type { Config } from '../../config.ts';
import { toId } from '../../foundation/values/ids.ts';
import { someAtOnce } from '../../foundation/values/some-at-once.ts';
import type { TrunkProber } from '../../lines/telephony/trunk-prober.ts';
import { checkFaults } from '../../lines/trunks/check-faults.ts';
import { askTrunk } from '../../lines/trunks/check-trunk.ts';
import { endsByCheck, type TrunkRow } from '../../lines/trunks/trunk.ts';
import { type Finding, mend, note, ok, whyOf } from './finding.ts';
import type { Opened } from './opened.ts';

/** How many trunks are asked, and how many at a time. */
const MOST = 50;
const AT_ONCE = 10;

/** Looks whether SIP can be opened, and asks each trunk as a server's check does. */
export async function checkTrunks(config: Config, opened: Opened): Promise<Finding[]> {
  const prober = await openProber(config, opened.trunkGuard, opened.database).catch((error: Error) => error);
  if (prober === undefined)
    return [note('sip', 'SIP_HOST is not set: the simulator takes the calls of trunks, and no phone rings.')];
  if (prober instanceof Error) {
    const advice = 'Set SIP_HOST to an address of this machine or to 0.0.0.0, and look at the files of SIP_TLS_*.';
    return [mend('sip', `It can not be opened: ${whyOf(prober)}. ${advice}`)];
  }
  try {
    const { rows } = await opened.database.inEngine(({ db }) =>
      sql<TrunkRow>`select * from trunks order by workspace_id, id limit ${MOST + 1}`.execute(db),
    );
    const found = await someAtOnce(AT_ONCE, rows.slice(0, MOST), (row) => checkTrunk(row, opened, prober));
    const rest = rows.length > MOST ? [note('trunk', `Only the first ${MOST} trunks were asked.`)] : [];
    return [ok('sip', `It can be opened on ${config.sipHost}.`), ...found, ...rest];
  } finally {
    await prober.close();
  }
}

async function checkTrunk(row: TrunkRow, opened: Opened, prober: TrunkProber): Promise<Finding> {
  const name = `${toId('trk', row.id)} (${row.termination_url})`;
  if (row.reason === 'requested') return note('trunk', `${name} was paused on request, and was not asked.`);
  if (row.reason !== null && !endsByCheck(row.reason))
    return mend('trunk', `${name} was paused since calls failed (${row.reason}). Mend that, and resume it.`);
  const verdict = await askTrunk({ ...opened, callsOut: true }, prober, row);
  if (!verdict?.valid) return mend('trunk', `${name} ${checkFaults[verdict?.reason ?? 'unchecked']}`);
  if (row.probe === 'none') return note('trunk', `${name} is not asked, as its \`probe\` says.`);
  return ok('trunk', `${name} answers.`);
}
