import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Certificates {
  ca: string;
  /** A certificate for names and addresses, such as `DNS:sip.example.com,IP:127.0.0.1`. */
  issue(subjectAltName: string): { key: string; cert: string };
}

/** An authority of one test's own, made by openssl; undefined where there is none. */
export function createAuthority(): Certificates | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), 'sip-ca-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Test CA', '-days', '2');
  } catch {
    return undefined;
  }
  let issued = 0;
  return {
    ca: read('ca.pem'),
    issue(subjectAltName) {
      issued += 1;
      const name = `leaf${issued}`;
      writeFileSync(path.join(folder, 'san'), `subjectAltName=${subjectAltName}`);
      openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', '/CN=leaf');
      const signs = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'san'];
      openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signs);
      return { key: read(`${name}.key`), cert: read(`${name}.pem`) };
    },
  };
}
