import { parseArgs } from 'node:util';
import type { Logger } from 'pino';
import { announce, COMMAND, sayGoodbye } from './commands/announce.ts';
import { confirmByWord, confirmOptions } from './commands/confirm-restore/by-word.ts';
import { examine } from './commands/doctor/examine.ts';
import { type Finding, lineOf, mend } from './commands/doctor/finding.ts';
import { moveNumber } from './commands/move-number.ts';
import { rotateKey } from './commands/rotate-key.ts';
import { grantTrunks, listGrants, revokeTrunks } from './commands/trunk-grants.ts';
import { CommandRefused } from './commands/workspace-named.ts';
import { type Config, ConfigError, loadConfig } from './config.ts';
import type { Database } from './foundation/database/database.ts';
import { isDatabaseLost } from './foundation/database/errors.ts';
import { stopEmbeddedPostgres } from './foundation/database/postgres/embedded.ts';
import { type EncryptionKeys, findEncryptionKeys } from './foundation/database/secrets.ts';
import { loadContract } from './foundation/http/app.ts';
import { operationsOf } from './foundation/http/contract.ts';
import { forValidator } from './foundation/http/validator-contract.ts';
import { openLog } from './foundation/observe/log.ts';
import { systemClock } from './foundation/values/clock.ts';
import { isE164 } from './foundation/values/e164.ts';
import { dropUnnamedGrants } from './lines/trunks/trunk-grants.ts';
import { createKey } from './platform/api-keys/first-key.ts';
import { openMigrated, type RunningServer, startServer } from './server.ts';

const USAGE = `${COMMAND} [command]

  serve          Start the server (the default).
  migrate        Bring the database to the newest state, and end.
  keys create    Make an API key and print it.
                 --workspace NAME  (default: Default; made where there is none)
                 --name NAME       (default: Made by keys create)
                 --permissions A,B (default: *)
  doctor         Check a set-up, with or without a server that runs, and say what to mend.
  confirm-restore
                 Say that the database was restored on purpose, so that dialing can be resumed. Whom a witness knows to
                 have been called since the backup is not called again.
                 --dry-run         (only says what would be marked)
                 --called FILE     (a carrier's list of calls, a CSV file: those people too)
                 --column NAME     (its column of numbers called, if that isn't found)
  move-number    Make a number another workspace's, where both say that it is theirs.
                 --number +14155550100
                 --workspace NAME  (or its ID, ws_…: whose it is from then on)
  trunks grant   Let a workspace call an address, and be called from there: from the second workspace on each needs it.
                 --workspace NAME  (or its ID, ws_…)
                 --address ADDRESS (a host, an IP address, or a network such as 203.0.113.0/24)
                 --by-name         (the carrier tells its customers by name or password: others may have it too)
  trunks revoke  Take that back.
                 --workspace NAME
                 --address ADDRESS
  trunks grants  List what is granted.
  rotate-key     Encrypt all secrets under ENCRYPTION_KEY that are under ENCRYPTION_KEY_SECOND.
                 --dry-run         (only counts them)
  stop           Stop the embedded database of DATA_DIR.

Settings come from the environment; docs/operations.md lists them.
`;

/** Those that need the database. */
const COMMANDS = [
  ...['migrate', 'keys create', 'confirm-restore', 'move-number', 'rotate-key'],
  ...['trunks grant', 'trunks revoke', 'trunks grants'],
];

/** A process that has not ended by then is ended. */
const HARD_DEADLINE_MS = 10_000;

const options = {
  workspace: { type: 'string' },
  name: { type: 'string', default: 'Made by keys create' },
  permissions: { type: 'string', default: '*' },
  number: { type: 'string', default: '' },
  address: { type: 'string', default: '' },
  'by-name': { type: 'boolean', default: false },
  ...confirmOptions,
  help: { type: 'boolean', short: 'h', default: false },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const command = positionals.join(' ') || 'serve';
  if (values.help) return print(USAGE);
  if (command === 'doctor') return doctor();
  const config = loadConfig();
  const log = await openLog(config, isDatabaseLost);
  if (command === 'serve') return serve(config, log);
  if (command === 'stop') return stopEmbeddedPostgres(config.dataDir);
  if (!COMMANDS.includes(command)) throw new ConfigError(`Unknown command: ${command}\n\n${USAGE}`);
  const permissions = command === 'keys create' ? permissionsNamed(values.permissions) : [];
  const needsKeys = command === 'confirm-restore' || command === 'rotate-key';
  const keys = needsKeys ? await findEncryptionKeys(config) : undefined;
  const database = await openMigrated(config, log, undefined, keys);
  try {
    if (command === 'migrate') return;
    if (command === 'confirm-restore') return await confirmByWord(config, database, values, print);
    if (command === 'rotate-key') return print(await rotate(database, keys, values['dry-run']));
    if (command === 'move-number') return print(await move(database, values));
    if (command.startsWith('trunks ')) return print(await trunks(database, command, values));
    const { name, workspace = 'Default' } = values;
    print(`${await createKey(database, systemClock, { workspace, name, permissions }, dropUnnamedGrants)}\n`);
  } finally {
    await database.close();
  }
}

/** Encrypts secrets under the current key, and says what comes next. */
async function rotate(database: Database, keys: EncryptionKeys | undefined, isDryRun: boolean): Promise<string> {
  if (!keys) throw new ConfigError('There is no key: set ENCRYPTION_KEY, or the DATA_DIR that has one.');
  const { moved, current, unreadable, unreadableCount } = await rotateKey(database, keys, isDryRun);
  const more = unreadableCount > unreadable.length ? ['…'] : [];
  const lost =
    unreadableCount === 0
      ? ''
      : `${unreadableCount} can be opened by no key that is set:\n${[...unreadable, ...more].map((each) => `  ${each}\n`).join('')}`;
  if (isDryRun) return `Under another key: ${moved}. Under ENCRYPTION_KEY: ${current}.\n${lost}`;
  if (lost) process.exitCode = 1;
  const next = lost
    ? 'Set the key that they are under as ENCRYPTION_KEY_SECOND, or set these secrets again.\n'
    : 'Tokens of calls and streams that were made before hold for a day at most: unset ENCRYPTION_KEY_SECOND after that.\n';
  return `Encrypted anew: ${moved}. Under ENCRYPTION_KEY already: ${current}.\n${lost}${next}`;
}

/** Says what it finds, a line each. The process ends with 1 where something must be mended. */
async function doctor(): Promise<void> {
  const tell = (finding: Finding) => {
    if (finding.state === 'mend') process.exitCode = 1;
    print(lineOf(finding));
  };
  const config = settings();
  if (config instanceof ConfigError) for (const fault of config.message.split('\n')) tell(mend('settings', fault));
  else await examine(config, tell);
}

function settings(): Config | ConfigError {
  try {
    return loadConfig();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** Which workspace is meant must be said where another one would lose by it. */
function required(workspace: string | undefined): string {
  if (workspace !== undefined) return workspace;
  throw new ConfigError('--workspace must name the workspace, by its name or its ID (ws_…).');
}

/** Grants and revokes addresses of trunks, and says what comes of it. */
async function trunks(
  database: Database,
  command: string,
  { workspace: named, address, 'by-name': byName }: { workspace?: string; address: string; 'by-name': boolean },
): Promise<string> {
  if (command === 'trunks grants') return (await listGrants(database)).map((line) => `${line}\n`).join('');
  const [workspace, now] = [required(named), systemClock.now()];
  try {
    if (command === 'trunks revoke') {
      await revokeTrunks(database, { workspace, address }, now);
      return `${address} is not ${workspace}'s to call any more. Trunks of it that name it are paused in a moment, and nothing more is sent there.\n`;
    }
    const { addresses, fault, taken } = await grantTrunks(database, { workspace, address, byName }, now);
    const lines = [`${workspace} may call ${address}.`];
    if (fault !== undefined) {
      process.exitCode = 1;
      lines.push(`But it leads nowhere now: ${fault} Look how it is written. Where it leads later is noted then.`);
    } else if (!byName) lines[0] += ` It alone may call ${addresses.join(', ')}.`;
    for (const before of taken) lines.push(`It was ${before} till now, by where its calls went.`);
    return lines.map((line) => `${line}\n`).join('');
  } catch (error) {
    throw error instanceof CommandRefused ? new ConfigError(error.message) : error;
  }
}

/** Moves a number, and says what comes next. */
async function move(database: Database, given: { number: string; workspace?: string }): Promise<string> {
  const { number } = given;
  const workspace = required(given.workspace);
  if (!isE164(number)) throw new ConfigError('--number must be a number such as +14155550100.');
  await moveNumber(database, number, workspace, systemClock.now()).catch((error) => {
    throw error instanceof CommandRefused ? new ConfigError(error.message) : error;
  });
  return `${number} is the workspace ${workspace}'s now. It needs an agent there and, where it was imported, a trunk.\n`;
}

/** The permissions that a list names, each once. Throws where no operation needs one of them. */
function permissionsNamed(list: string): string[] {
  const known = new Set(['*', ...operationsOf(forValidator(loadContract())).map((each) => each.permission)]);
  for (const needsNone of ['anyone', 'authenticated', 'operator']) known.delete(needsNone);
  const named = [...new Set(list.split(',').map((each) => each.trim()))];
  const unknown = named.filter((each) => !known.has(each));
  if (unknown.length === 0) return named;
  throw new ConfigError(`Unknown permission: ${unknown.join(', ')}\n\nThere are: ${[...known].sort().join(', ')}`);
}

/** Serves until a signal. What nobody has caught ends the process: its state can't be trusted any more. */
async function serve(config: Config, log: Logger): Promise<void> {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the server ends');
    process.exit(1);
  });
  const server = await startServer({ config, log });
  log.info({ url: server.url }, 'ready');
  announce(server);
  endOnSignal(server, log, config);
}

const print = (text: string) => void process.stdout.write(text);

function endOnSignal(server: RunningServer, log: Logger, config: Config): void {
  let ending = false;
  const end = async (signal: NodeJS.Signals) => {
    if (ending) return;
    ending = true;
    log.info({ signal }, 'draining');
    setTimeout(() => process.exit(1), HARD_DEADLINE_MS + config.drainSeconds * 1000).unref();
    await server.stop().catch((error) => {
      log.error({ err: error }, 'the server could not end in order');
      process.exit(1);
    });
    log.info('stopped');
    sayGoodbye(config);
    process.exit(0);
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}

main().catch((error: Error) => {
  // A fault of the settings or of the command line is told in a line; anything else with where it came from.
  const known = error instanceof ConfigError || error.cause !== undefined || 'code' in error;
  process.stderr.write(`${known ? error.message : error.stack}\n`);
  // At once: a connection that is still open must not keep a process that serves nobody.
  process.exit(1);
});
