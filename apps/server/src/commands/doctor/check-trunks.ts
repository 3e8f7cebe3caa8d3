import { sql } from 'kysely';
import { openProber } from '../../compose-adapters.ts';
import type { Config } from '../../config.ts';
import { toId } from '../../foundation/values/ids.ts';
import { someAtOnce } from '../../foundation/values/some-at-once.ts';
import type { TrunkProber } from '../../lines/telephony/trunk-prober.ts';
import { askTrunk } from '../../lines/trunks/check-trunk.ts';
import { type CheckReason, endsByCheck, type TrunkRow } from '../../lines/trunks/trunk.ts';
import { type Finding, mend, note, ok, whyOf } from './finding.ts';
import type { Opened } from './opened.ts';

/** How many trunks are asked, and how many at a time. */
const MOST = 50;
const AT_ONCE = 10;

const faults: Record<CheckReason, string> = {
  unchecked: 'could not be asked: try again.',
  no_prober: 'could not be asked: try again.',
  unreachable:
    'does not answer. Look at its address and port, at firewalls, and whether the carrier lets in the address of this machine.',
  dns_failure: 'has a name without an address. Look how it is written.',
  tls_failure: 'makes no TLS connection. Look at its certificate, at SIP_TLS_CA_FILE, and whether it speaks TLS there.',
  credentials_rejected: 'rejects the username or password. Set them anew.',
  unreadable: 'has a password that can not be decrypted. Was ENCRYPTION_KEY changed?',
  not_granted: 'has an address that is not granted to its workspace. If it is meant: trunkline-server trunks grant.',
  not_allowed: 'has an address that is not allowed. Name it in SIP_ALLOWED_ADDRESSES if it is meant.',
};

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
  if (!verdict?.valid) return mend('trunk', `${name} ${faults[verdict?.reason ?? 'unchecked']}`);
  if (row.probe === 'none') return note('trunk', `${name} is not asked, as its \`probe\` says.`);
  return ok('trunk', `${name} answers.`);
}
