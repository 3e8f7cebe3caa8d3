import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);
const root = path.dirname(import.meta.dirname);

/** A peer that sends 50 packets of one sound, and counts those that bring it back. */
const peer = `
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
const peer = createSocket('udp4').bind(0, '127.0.0.1');
await once(peer, 'listening');
let back = 0, target = 0;
peer.on('message', (packet: Buffer) => { if (packet.length === 172 && packet[100] === 7) back += 1; });
const stream = (rtpPort: number) => {
  target = rtpPort;
  const { port } = peer.address();
  const remote = { address: '127.0.0.1', port, rtcpAddress: '127.0.0.1', rtcpPort: port + 1 };
  return { remote, codec: 'PCMU' as const, payloadType: 0, telephoneEventType: undefined,
    receives: new Map([[0, 'PCMU' as const]]), packetMs: 20, direction: 'sendrecv' as const };
};
const talk = async () => {
  for (let each = 0; each < 500 && back < 20; each += 1) {
    const packet = Buffer.alloc(172, 7);
    packet.writeUInt16BE(0x8000, 0); packet.writeUInt16BE(each, 2);
    packet.writeUInt32BE(each * 160, 4); packet.writeUInt32BE(5, 8);
    peer.send(packet, target, '127.0.0.1');
    await sleep(20);
  }
  console.log('heard back:', back >= 20);
  peer.close();
};
`;

test('the built package runs the README’s code in plain Node, and knows neither SIP nor a server', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'media-built-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await run('tsc', ['-p', 'tsconfig.build.json', '--outDir', folder], { cwd: root });
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.js'))) {
    const text = await readFile(path.join(folder, name), 'utf8');
    for (const [, from] of text.matchAll(/from '([^']+)'/g)) expect(from).toMatch(/^(node:|\.\/.*\.js$|yallist$)/);
  }
  const readme = await readFile(path.join(root, 'README.md'), 'utf8');
  const [thread, calls] = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) =>
    code!.replaceAll("'@trunkline/media'", "'./index.js'"),
  );
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  await writeFile(path.join(folder, 'thread.ts'), thread!);
  await writeFile(path.join(folder, 'calls.ts'), peer + calls!);
  const checks = '--strict --module nodenext --target es2023 --types node --skipLibCheck --ignoreConfig'.split(' ');
  await run('tsc', [...checks, '--typeRoots', path.join(root, 'node_modules/@types'), 'thread.ts', 'calls.ts'], {
    cwd: folder,
  });
  const { stdout } = await run('node', ['calls.js'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    timeout: 240_000,
  });
  expect(stdout).toContain('first_packet');
  expect(stdout).toContain('heard back: true');
  expect(stdout).toMatch(/codec: 'PCMU'/);
});
