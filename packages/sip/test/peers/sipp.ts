import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findProgram, freePort, peerFolder, runPeer, untilBound } from './peer-process.ts';

export const sipp = findProgram('sipp');

/** A message as sipp's log has it. */
export interface LoggedMessage {
  /** In milliseconds since 1970. */
  at: number;
  direction: 'sent' | 'received';
  /** The first line. */
  start: string;
  callId: string;
  cseq: string;
  text: string;
}

/** Another network than this machine's, with a way to start programs in it. */
export interface PeerNetwork {
  address: string;
  behind: string[];
  /** The UDP ports that are bound in it. */
  bound(): number[];
}

export interface Sipp {
  port: number;
  /** What was said so far, in order, retransmissions too. */
  messages(): LoggedMessage[];
  output(): string;
  stop(): Promise<void>;
}

/**
 * Starts callees of `callee.xml` behind one UDP port. They echo what RTP they hear.
 * @param tone what is played by those who play something, as µ-law; then nobody echoes
 * @param network where they are, if not on loopback
 */
export async function startSipp(tone?: Buffer, network?: PeerNetwork): Promise<Sipp> {
  const { address = '127.0.0.1', behind = [] } = network ?? {};
  const port = await freePort();
  const media = await freePort();
  const folder = peerFolder();
  const log = path.join(folder, 'messages.log');
  writeFileSync(path.join(folder, 'tone.ul'), tone ?? Buffer.alloc(8000, 0xff));
  const [program = '', ...args] = [...behind, sipp!];
  const peer = runPeer(
    program,
    [
      ...args,
      ...['-sf', path.join(import.meta.dirname, 'callee.xml'), '-i', address, '-p', String(port)],
      ...['-mi', address, '-mp', String(media), ...(tone ? [] : ['-rtp_echo']), '-aa', '-nostdin', '-trace_msg'],
      ...['-message_file', log],
    ],
    folder,
  );
  await untilBound(port, peer, network?.bound);
  return {
    port,
    messages: () => (existsSync(log) ? readLog(readFileSync(log, 'utf8')) : []),
    output: peer.output,
    stop: peer.stop,
  };
}

function readLog(text: string): LoggedMessage[] {
  const parts = text.split(/^-{20,} (\d{4}-\d\d-\d\d[ T\t][\d:.]+)\r?\n/m);
  const messages: LoggedMessage[] = [];
  for (let at = 1; at + 1 < parts.length; at += 2) {
    const [head = '', ...rest] = parts[at + 1]!.split(/\r?\n\r?\n/);
    const direction = /received/.test(head) ? 'received' : 'sent';
    const body = rest.join('\r\n\r\n').trimStart();
    const field = (name: string) => new RegExp(`^${name}:\\s*(.*?)\\s*$`, 'im').exec(body)?.[1] ?? '';
    const time = Date.parse(parts[at]!.replace(/[ \t]/, 'T'));
    const [start = ''] = body.split(/\r?\n/);
    messages.push({ at: time, direction, start, callId: field('Call-ID'), cseq: field('CSeq'), text: body });
  }
  return messages;
}
