import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { findProgram, freePort, type PeerProcess, peerFolder, runPeer, untilBound } from './peer-process.ts';

const modules = ['/usr/lib/baresip/modules', '/usr/local/lib/baresip/modules'].find((folder) => existsSync(folder));

export const baresip = modules ? findProgram('baresip') : undefined;

export interface Baresip extends PeerProcess {
  port: number;
  hangUp(): void;
  press(digit: string): void;
  dial(uri: string): void;
}

/**
 * Starts a telephone without a sound card: it answers at once, and says what it hears.
 * @param account parameters of its account, as baresip writes them @param user whom it takes calls for
 */
export async function startBaresip(account = 'audio_codecs=pcmu', user = 'phone'): Promise<Baresip> {
  const [port, control, rtp] = [await freePort(), await freePort(), await freePort()];
  const folder = peerFolder();
  writeFileSync(path.join(folder, 'accounts'), `<sip:${user}@127.0.0.1>;answermode=auto;regint=0;${account}\n`);
  writeFileSync(path.join(folder, 'contacts'), '');
  const settings = {
    sip_listen: `127.0.0.1:${port}`,
    net_interface: '127.0.0.1',
    audio_player: 'aubridge,line',
    audio_source: 'aubridge,line',
    ringback_disabled: 'yes',
    ausrc_srate: 8000,
    auplay_srate: 8000,
    ausrc_channels: 1,
    auplay_channels: 1,
    rtp_ports: `${rtp}-${rtp + 20}`,
    jitter_buffer_delay: '1-5',
    ctrl_tcp_listen: `127.0.0.1:${control}`,
    module_path: modules,
  };
  const loads = [
    'module g711.so',
    'module aubridge.so',
    'module srtp.so',
    'module_tmp account.so',
    'module_app menu.so',
    'module ctrl_tcp.so',
  ];
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  writeFileSync(path.join(folder, 'config'), `${[...lines, ...loads].join('\n')}\n`);
  const peer = runPeer(baresip!, ['-f', folder], folder);
  await untilBound(port, peer);
  const tell = (command: string, params?: string) => {
    const text = JSON.stringify({ command, params });
    const socket = connect(control, '127.0.0.1', () => socket.end(`${text.length}:${text},`));
    socket.on('error', () => {});
  };
  return {
    ...peer,
    port,
    hangUp: () => tell('hangup'),
    press: (digit) => tell('sndcode', digit),
    dial: (uri) => tell('dial', uri),
  };
}
