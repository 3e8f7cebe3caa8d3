import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { usageFault } from './faults.ts';
import type { Io } from './io.ts';

/** Where the server is, and the key to it. */
export interface Login {
  url: string;
  apiKey: string;
}

/** Where `login` keeps them: `$XDG_CONFIG_HOME/trunkline/config.json`, `~/.config/…` by default. */
export function configPath({ XDG_CONFIG_HOME, HOME }: Io['env']): string {
  return path.join(XDG_CONFIG_HOME || path.join(HOME || homedir(), '.config'), 'trunkline/config.json');
}

/** What `login` has kept. Undefined where nobody is logged in. Throws a usage fault where the file is none of ours. */
export async function readLogin(env: Io['env']): Promise<Login | undefined> {
  const file = configPath(env);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw usageFault(`${file} can't be read: ${error.message}`);
  });
  if (text === undefined) return undefined;
  const { url, apiKey } = parsed(text) ?? {};
  if (typeof url === 'string' && typeof apiKey === 'string') return { url, apiKey };
  throw usageFault(`${file} is not as \`login\` writes it.`, 'Log in again: trunkline login');
}

function parsed(text: string): Partial<Login> | undefined {
  try {
    return JSON.parse(text) as Partial<Login>;
  } catch {
    return undefined;
  }
}

/** Keeps a login, for nobody but this user. Returns where. */
export async function writeLogin(env: Io['env'], login: Login): Promise<string> {
  const file = configPath(env);
  const next = `${file}.${process.pid}`;
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(next, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
    await rename(next, file);
  } catch (error) {
    throw usageFault(`${file} can't be written: ${(error as Error).message}`, 'Set XDG_CONFIG_HOME to another folder.');
  }
  return file;
}

/** Forgets the login. False where there was none. */
export async function removeLogin(env: Io['env']): Promise<boolean> {
  const had = (await readLogin(env).catch(() => ({}))) !== undefined;
  await rm(configPath(env), { force: true });
  return had;
}
