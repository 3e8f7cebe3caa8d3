import { execFileSync, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import type { S3Options } from '../../../src/foundation/objects/s3.ts';

function isInstalled(command: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Where an S3-compatible server for tests comes from: `TEST_S3_ENDPOINT`, moto where it is installed, or nowhere. */
export const s3Source: 'TEST_S3_ENDPOINT' | 'moto_server' | undefined = process.env['TEST_S3_ENDPOINT']
  ? 'TEST_S3_ENDPOINT'
  : isInstalled('moto_server')
    ? 'moto_server'
    : undefined;

async function startMoto(): Promise<{ endpoint: string; stop(): void }> {
  const port = await freePort();
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 300; tries += 1) {
    if (await fetch(endpoint).catch(() => undefined)) return { endpoint, stop: () => void child.kill('SIGKILL') };
    await sleep(100);
  }
  child.kill('SIGKILL');
  throw new Error('moto_server did not start');
}

/** Starts, or reaches, an S3-compatible server, and makes an empty bucket there. */
export async function startS3(): Promise<S3Options & { stop(): void }> {
  const given = process.env['TEST_S3_ENDPOINT'];
  const { endpoint, stop } = given ? { endpoint: given, stop: () => {} } : await startMoto();
  const credentials = {
    accessKeyId: process.env['TEST_S3_ACCESS_KEY_ID'] ?? 'test',
    secretAccessKey: process.env['TEST_S3_SECRET_ACCESS_KEY'] ?? 'test',
  };
  const options = { bucket: `trunkline-test-${Date.now()}`, region: 'us-east-1', endpoint, credentials };
  const client = new S3Client({ ...options, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: options.bucket }));
  return { ...options, stop };
}
