import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findProgram, freePort, type PeerProcess, peerFolder, runPeer, untilBound } from './peer-process.ts';

const hasTls = ['/usr/lib', ...subfoldersOf('/usr/lib')].some((folder) =>
  existsSync(path.join(folder, 'kamailio/modules/tls.so')),
);

function subfoldersOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((each) => each.isDirectory()).map((each) => path.join(folder, each.name));
}

/** With its TLS module. */
export const kamailio = hasTls ? findProgram('kamailio') : undefined;

export interface Kamailio extends PeerProcess {
  udpPort: number;
  tlsPort: number;
  /** The calls that it has let through, as it has counted them: by whom, how many of his are up, and when, in seconds. */
  counted(): { caller: string; up: number; at: number }[];
}

/**
 * Starts the carrier of `kamailio.cfg`, where everybody's password is `secret`.
 * @param certificate for 127.0.0.1 @param callees where those are who aren't registered: a UDP port of 127.0.0.1
 * @param speakers where those of them are whose numbers end with 11 @param ports those of one that it stands in for
 */
export async function startKamailio(
  certificate: { key: string; cert: string },
  callees: number,
  speakers = callees,
  ports?: Pick<Kamailio, 'udpPort' | 'tlsPort'>,
): Promise<Kamailio> {
  const { udpPort, tlsPort } = ports ?? { udpPort: await freePort(), tlsPort: await freePort() };
  const folder = peerFolder();
  const file = (name: string) => path.join(folder, name);
  writeFileSync(file('key.pem'), certificate.key);
  writeFileSync(file('cert.pem'), certificate.cert);
  const pem = `private_key = ${file('key.pem')}\ncertificate = ${file('cert.pem')}\n`;
  writeFileSync(file('tls.cfg'), `[server:default]\nmethod = TLSv1.2+\nverify_certificate = no\n${pem}`);
  const values = { UDP_PORT: udpPort, TLS_PORT: tlsPort, CALLEES: callees, SPEAKERS: speakers, FOLDER: folder };
  let config = readFileSync(path.join(import.meta.dirname, 'kamailio.cfg'), 'utf8');
  for (const [name, value] of Object.entries(values))
    config = config.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), String(value));
  writeFileSync(file('kamailio.cfg'), config);
  const memory = ['-m', '32', '-M', '8'];
  const peer = runPeer(kamailio!, ['-f', file('kamailio.cfg'), '-DD', '-E', '-Y', folder, ...memory], folder);
  await untilBound(udpPort, peer);
  const counted = () =>
    [...peer.output().matchAll(/counted (\S+) (\d+) ([\d.]+)$/gm)].map(([, caller, up, at]) => ({
      caller: caller!,
      up: Number(up),
      at: Number(at),
    }));
  return { ...peer, udpPort, tlsPort, counted };
}
