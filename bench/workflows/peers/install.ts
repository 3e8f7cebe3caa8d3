import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Installs DBOS and Restate in this folder, which they have for themselves: they are 240 MB that only this needs. */
export async function installPeers(): Promise<void> {
  console.error('  looking whether DBOS and Restate are installed (240 MB, the first time) …');
  const args = ['install', '--frozen-lockfile', '--ignore-workspace', '--reporter=append-only'];
  const child = spawn('pnpm', args, { cwd: import.meta.dirname, stdio: ['ignore', 2, 2] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error('DBOS and Restate could not be installed.');
}
