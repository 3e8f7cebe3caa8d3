import { ForbiddenError } from '@trunkline/client';
import type { Command } from 'commander';
import { askSecret, askText } from '../ask.ts';
import { readLogin, removeLogin, writeLogin } from '../config-file.ts';
import { connect, originOf } from '../connect.ts';
import { usageFault } from '../faults.ts';
import { localCommand } from '../group.ts';
import { type Io, isInteractive } from '../io.ts';

const LOCAL = 'http://localhost:8080';

export function addSession(program: Command, io: Io): void {
  const login = { usage: 'login [url]', says: 'Keep a server and a key', example: `login ${LOCAL}` };
  localCommand(program, io, login, async ({ screen }, given) => {
    const { TRUNKLINE_BASE_URL: named, TRUNKLINE_API_KEY: key } = io.env;
    const kept = await readLogin(io.env).catch(() => undefined);
    const known = given ?? named;
    if (!known && !isInteractive(io)) throw usageFault('Which server?', 'trunkline login URL');
    const url = known ?? (await askText(io, 'Address of the server', kept?.url ?? LOCAL));
    originOf(url);
    const apiKey = key || (await askSecret(io, 'API key'));
    if (!/^[\x21-\x7e]+$/.test(apiKey))
      throw usageFault('That is no API key.', 'It begins with tl_; npm start prints the first one.');
    await check(io, { url, apiKey });
    const file = await writeLogin(io.env, { url, apiKey });
    screen.say(`Logged in to ${url}. The key is in ${file}, which only you can read.`);
  }).addHelpText('after', '\nThe key is asked for, or read from standard input\nor TRUNKLINE_API_KEY.');

  const logout = { usage: 'logout', says: 'Forget them', example: 'logout' };
  localCommand(program, io, logout, async ({ screen }) => {
    const had = await removeLogin(io.env);
    screen.say(had ? 'Logged out. The key itself stays valid: trunkline keys revoke.' : 'Nobody was logged in.');
  });
}

/** Whether the server takes the key. One that may not read the workspace is a key all the same. */
async function check(io: Io, login: { url: string; apiKey: string }): Promise<void> {
  await connect(login, io.signal)
    .workspace.get()
    .catch((error) => {
      if (!(error instanceof ForbiddenError)) throw error;
    });
}
