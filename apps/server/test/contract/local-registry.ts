import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

/**
 * A registry of npm on this machine that has these tarballs, as if they were published. npm asks it for their scope alone
 * if it gets `settings` in its environment; all else comes from where it usually does.
 */
export async function startRegistry(tarballs: readonly string[]) {
  const documents = new Map<string, object>();
  const files = new Map(tarballs.map((tarball) => [`/${path.basename(tarball)}`, readFileSync(tarball)]));
  const server = createServer(({ url = '' }, response) => {
    const found = documents.get(decodeURIComponent(url));
    const answer = files.get(url) ?? (found && JSON.stringify(found));
    response.statusCode = answer ? 200 : 404;
    response.end(answer ?? '{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const tarball of tarballs) {
    const text = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' });
    const manifest: { name: string; version: string } = JSON.parse(text);
    const { name, version } = manifest;
    const file = `/${path.basename(tarball)}`;
    const integrity = `sha512-${createHash('sha512').update(files.get(file)!).digest('base64')}`;
    documents.set(`/${name}`, {
      name,
      'dist-tags': { latest: version },
      versions: { [version]: { ...manifest, dist: { tarball: `${url}${file}`, integrity } } },
    });
  }
  return {
    settings: { 'npm_config_@trunkline:registry': `${url}/` },
    stop: () => server.close(),
  };
}
