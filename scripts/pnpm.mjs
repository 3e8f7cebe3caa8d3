// Runs pnpm as the lockfile names it: `node scripts/pnpm.mjs install --frozen-lockfile`.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { root, runQuietly } from './process.mjs';

/** What installing needs of the environment. The rest, such as passwords and keys, is none of its business. */
const NEEDED =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_\w+|TZ|TMPDIR|CI|XDG_\w+|PNPM_HOME|(npm|pnpm)_config_.+|(https?|all|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

/** @param settings the texts of the .npmrc files; what they name as `${NAME}` is needed too, such as a registry's token */
export function neededOf(environment, settings) {
  const named = new Set(settings.flatMap((text) => [...text.matchAll(/\$\{(\w+)[^}]*\}/g)].map(([, name]) => name)));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => NEEDED.test(name) || named.has(name)));
}

/** The project's settings of npm and the user's, where there are any. */
const npmSettings = () =>
  [root, homedir()]
    .map((folder) => path.join(folder, '.npmrc'))
    .flatMap((file) => (existsSync(file) ? [readFileSync(file, 'utf8')] : []));

/** pnpm's program for this machine, by the name and the hash that a lockfile has of it. */
export function pinnedProgram(lockfile, version, { platform, arch } = process) {
  const name = `@pnpm/exe.${platform}-${arch}@${version}`;
  const [, integrity] =
    lockfile.split(`\n  '${name}':\n`)[1]?.match(/^ {4}resolution: \{integrity: (sha512-[^}]+)\}/) ?? [];
  if (!integrity) throw new Error(`pnpm-lock.yaml has no hash of ${name}.`);
  return { name, integrity };
}

/** Throws where these bytes are not those that a hash was made of. */
export function checkIntegrity(bytes, { name, integrity }) {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity)
    throw new Error(
      `What was fetched as ${name} is not what pnpm-lock.yaml names; it was not run.\nIts hash is ${found}.`,
    );
}

/**
 * Runs pnpm with these arguments, without the environment's secrets: npm fetches its program, which is run only where it is
 * the one that the lockfile names. Resolves to its exit code and output.
 */
export async function pnpm(args) {
  const { packageManager } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const [, version] = packageManager.match(/^pnpm@([^+]+)/);
  const program = pinnedProgram(readFileSync(path.join(root, 'pnpm-lock.yaml'), 'utf8'), version);
  const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-pnpm-'));
  // CI: pnpm must not ask whether it may replace node_modules.
  const options = { environment: { ...neededOf(process.env, npmSettings()), CI: 'true' } };
  const step = async (command, ...rest) => {
    const ended = await runQuietly(command, rest, options);
    if (ended.code !== 0) throw new Error(`${ended.output.trim()}\npnpm could not be fetched.`);
  };
  try {
    await step('npm', 'pack', '--loglevel=error', '--prefer-offline', '--pack-destination', folder, program.name);
    const packed = path.join(folder, readdirSync(folder)[0]);
    checkIntegrity(readFileSync(packed), program);
    await step('tar', '-xzf', packed, '-C', folder);
    return await runQuietly(path.join(folder, 'package/pnpm'), args, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { code, output } = await pnpm(process.argv.slice(2));
  process.stdout.write(output);
  process.exitCode = code;
}
