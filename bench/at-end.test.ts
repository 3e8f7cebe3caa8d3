import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { atEnd, end } from './at-end.ts';

test('a server is ended before its database is stopped, also one that starts meanwhile', async () => {
  const gone: string[] = [];
  const goes = (name: string) => async () => void gone.push(name);
  atEnd(goes('the database'));
  atEnd(async () => {
    gone.push('a server');
    atEnd(goes('one that has just started'));
  });
  await end();
  expect(gone).toEqual(['a server', 'one that has just started', 'the database']);
});

test('a measurement that is killed leaves no server running', async () => {
  const measure = `
    import { forkServer } from './child.ts';
    const { pid } = await forkServer(new URL('./edge/server.ts', 'file://${import.meta.dirname}/'), { kind: 'express', key: 'x' });
    console.log(pid);`;
  const args = ['--conditions=source', '--input-type=module', '-e', measure];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] });
  const [told] = await once(child.stdout, 'data');
  const runs = () => process.kill(Number(told), 0);
  expect(runs()).toBe(true);
  child.kill('SIGKILL');
  await vi.waitFor(() => expect(runs).toThrow('ESRCH'), { timeout: 60_000 });
});
