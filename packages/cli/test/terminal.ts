import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';

const run = promisify(execFile);
const bin = path.join(import.meta.dirname, '../src/bin.ts');

export const hasTmux = installed('tmux');

function installed(program: string): boolean {
  try {
    execFileSync(program, ['-V']);
    return true;
  } catch {
    return false;
  }
}

/** A shell in a terminal of so many columns, in an empty folder, where `trunkline` is a command. */
export async function openTerminal(columns: number) {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-cli-terminal-'));
  const program = path.join(folder, 'trunkline');
  await writeFile(program, `#!/bin/sh\nexec ${process.execPath} --conditions=source ${bin} "$@"\n`);
  await chmod(program, 0o755);
  const socket = `trunkline-${process.pid}-${randomBytes(4).toString('hex')}`;
  const tmux = async (...words: string[]) => (await run('tmux', ['-L', socket, '-f', '/dev/null', ...words])).stdout;
  const variables = {
    PATH: `${folder}:${process.env['PATH']}`,
    PS1: '$ ',
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    ENV: '',
  };
  const shell = ['env', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`), 'sh'];
  await tmux('new-session', '-d', '-x', String(columns), '-y', '60', '-c', folder, ...shell);
  onTestFinished(async () => {
    await tmux('kill-server');
    await rm(folder, { recursive: true });
  });

  /** The lines on the screen; one that went over the right edge is one line. */
  const screen = () => tmux('capture-pane', '-p', '-J');
  const type = (text: string) => tmux('send-keys', '-l', text);
  const press = (key: string) => tmux('send-keys', key);
  return {
    folder,
    screen,
    type,
    press,
    shows: (what: string | RegExp) => expect.poll(screen, { interval: 150 }).toMatch(what),
    /** Types a command line on a clean screen. */
    async enter(line: string): Promise<void> {
      // What stood there before is not to be taken for what comes.
      await type('clear');
      await press('Enter');
      await expect.poll(async () => (await screen()).trim(), { interval: 150 }).toBe('$');
      await type(`clear; ${line}; echo "ended with $?"`);
      await press('Enter');
    },
    /** Waits until it has ended so, checks that no line went over the edge, and returns what stands there. */
    async ended(code: number): Promise<string> {
      await expect.poll(screen, { interval: 150 }).toMatch(/^ended with \d+$/m);
      const text = await screen();
      expect(text).toMatch(new RegExp(`^ended with ${code}$`, 'm'));
      for (const line of text.split('\n')) expect([...line.trimEnd()].length, line).toBeLessThanOrEqual(columns);
      return text;
    },
  };
}

export type Terminal = Awaited<ReturnType<typeof openTerminal>>;
