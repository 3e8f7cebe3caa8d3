import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../at-end.ts';
import { forkServer } from '../child.ts';
import { keepConnections } from '../connections.ts';
import { requestText } from '../load.ts';
import { temporaryFolder } from '../postgres.ts';
import { carryOut, type System } from './starts.ts';

/** Restate's server with its own defaults, its log flushed to the disk among them, and an app with the handlers. */
export async function startRestate(): Promise<System> {
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  const serverPid = await spawnServer({
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_BIND_PORT: String(node),
  });
  const app = await forkServer(new URL('./peers/restate-app.ts', import.meta.url), {});
  const uri = `http://127.0.0.1:${app.port}`;
  await untilItAnswers(`http://127.0.0.1:${admin}/deployments`, uri);
  await untilItAnswers(`http://127.0.0.1:${ingress}/restate/health`);

  const { send, close } = keepConnections(ingress);
  atEnd(async () => close());
  const start = (key: string, steps: number) =>
    send(requestText('POST', '/bench/run/send', { 'idempotency-key': key }, { steps }), 202);
  const ended = () => app.ask<number>({});
  return { carryOut: (order) => carryOut(order, { start, ended }), pids: [app.pid, serverPid] };
}

async function spawnServer(ports: Record<string, string>): Promise<number> {
  const folder = await temporaryFolder();
  const binary = path.join(
    import.meta.dirname,
    `peers/node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
  );
  const child = spawn(binary, ['--base-dir', folder, '--listen-mode', 'tcp', '--bind-ip', '127.0.0.1'], {
    env: { ...ports, RESTATE_DISABLE_TELEMETRY: 'true' },
    stdio: 'ignore',
  });
  atEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return child.pid!;
}

async function untilItAnswers(url: string, uri?: string): Promise<void> {
  const request = uri
    ? { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ uri }) }
    : {};
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await fetch(url, request).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error(`Restate doesn't answer at ${url}.`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
