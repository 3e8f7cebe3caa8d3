import { sql } from 'kysely';
import { openAgents, operatorModelOf } from '../../compose-adapters.ts';
import type { Config } from '../../config.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { systemClock } from '../../foundation/values/clock.ts';
import { toId } from '../../foundation/values/ids.ts';
import { someAtOnce } from '../../foundation/values/some-at-once.ts';
import { openConnection } from '../../voices/agents/agent.ts';
import { withOperatorKey } from '../../voices/agents/operator-model.ts';
import { tryConnection } from '../../voices/agents/test-agent.ts';
import { type Finding, mend, note, ok, whyOf } from './finding.ts';
import type { Opened } from './opened.ts';

/** How many agents are connected to, and how many at a time. */
const MOST = 50;
const AT_ONCE = 10;
/** An ID that no directory has. */
const NOBODY = 'trunkline-doctor';

/** Asks the directory of the settings, and connects to each agent that the server keeps, as a call would. */
export async function checkAgents(config: Config, opened: Opened): Promise<Finding[]> {
  const { rows } = await opened.database.inEngine(({ db }) =>
    sql<Row<'agents'>>`select * from agents order by workspace_id, id limit ${MOST + 1}`.execute(db),
  );
  const found = await someAtOnce(AT_ONCE, rows.slice(0, MOST), (row) => checkAgent(row, config, opened));
  const rest = rows.length > MOST ? [note('agent', `Only the first ${MOST} agents were connected to.`)] : [];
  return [...(await checkDirectory(config)), ...found, ...rest];
}

async function checkDirectory(config: Config): Promise<Finding[]> {
  const setting = config.agentsFile ? 'AGENTS_FILE' : 'AGENTS_URL';
  if (!config.agentsFile && !config.agentsUrl) return [];
  try {
    await (await openAgents(config, systemClock)).resolve(NOBODY, '');
    return [ok('agents', `The directory of ${setting} answers.`)];
  } catch (error) {
    return [mend('agents', `The directory of ${setting} can not be asked: ${whyOf(error)}. Mend it, or the setting.`)];
  }
}

async function checkAgent(row: Row<'agents'>, config: Config, { guard, secrets }: Opened): Promise<Finding> {
  const name = `${toId('agent', row.id)} (${row.name})`;
  const opened = connection();
  if (!opened) return mend('agent', `${name}: its secret can not be decrypted. Was ENCRYPTION_KEY changed?`);
  if (opened.type === 'script')
    return note(
      'agent',
      `${name}: a script, which makes no connection. Its test tells whether its sentences are ready.`,
    );
  const { reason, message } = await tryConnection(guard, row.workspace_id, opened);
  return (reason === 'ok' ? ok : mend)('agent', `${name}: ${message}`);

  function connection() {
    try {
      return withOperatorKey(openConnection(row, secrets), operatorModelOf(config));
    } catch {
      return undefined;
    }
  }
}
