import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort, type PeerProcess, peerFolder, runPeer, untilBound } from './peer-process.ts';
import { sipp } from './sipp.ts';

/** What a scripted peer does after the call was answered, one after the other. Its calls then end by its BYE. */
export type SessionStep =
  /** Waits, in ms. */
  | { pause: number }
  /** Refreshes the session, or offers another direction of sound. */
  | { send: 'UPDATE' | 'INVITE'; direction?: 'sendrecv' | 'sendonly' }
  /** Takes a refresh, which must come within a minute. */
  | { take: 'UPDATE' | 'INVITE' };

export interface SessionPeerOptions {
  steps: SessionStep[];
  /** Where it calls to; without it, it is called. */
  calls?: number;
  /** Who refreshes the session of 90 s: the peer or we. */
  refresher: 'peer' | 'us';
}

const SESSION = 'Session-Expires: 90;refresher=';

/** Starts a sipp that plays one call, whose sound it echoes. Its exit code says whether all came as it should. */
export async function startSessionPeer(options: SessionPeerOptions): Promise<PeerProcess & { port: number }> {
  const [port, media] = [await freePort(), await freePort()];
  const folder = peerFolder();
  writeFileSync(path.join(folder, 'session.xml'), scenario(options));
  const remote = options.calls === undefined ? [] : [`127.0.0.1:${options.calls}`];
  const args = ['-sf', 'session.xml', '-i', '127.0.0.1', '-p', String(port), '-mi', '127.0.0.1', '-mp', String(media)];
  const own = ['-rtp_echo', '-m', '1', '-nostdin', '-trace_err'];
  const peer = runPeer(sipp!, [...args, ...own, ...remote], folder);
  if (options.calls === undefined) await untilBound(port, peer);
  return { ...peer, port };
}

function scenario({ steps, calls, refresher }: SessionPeerOptions): string {
  // Who is to be refreshed by re-INVITE doesn't take UPDATE.
  const update = steps.some((step) => 'take' in step && step.take === 'INVITE') ? '' : ', UPDATE';
  const allow = `Allow: INVITE, ACK, BYE, CANCEL, OPTIONS${update}`;
  const begin = calls === undefined ? answers(refresher, allow) : places(refresher, allow);
  const within = withinBy[calls === undefined ? 'callee' : 'caller'];
  const acts = steps.map((step, at) => {
    if ('pause' in step) return `<pause milliseconds="${step.pause}"/>`;
    return 'take' in step ? takes(step.take) : sends(step.send, at + 2, within, step.direction);
  });
  const bye = request('BYE', steps.length + 2, within, []);
  return [
    '<?xml version="1.0" encoding="ISO-8859-1" ?>',
    `<scenario name="session">`,
    begin,
    ...acts,
    bye,
    `<recv response="200"/>`,
    `</scenario>`,
  ].join('\n');
}

const contact = 'Contact: <sip:peer@[local_ip]:[local_port];transport=[transport]>';
const sdp = (direction = 'sendrecv') =>
  ['v=0', 'o=peer 1 1 IN IP4 [local_ip]', 's=-', 'c=IN IP4 [media_ip]', 't=0 0', 'm=audio [media_port] RTP/AVP 0']
    .concat(`a=${direction}`, '')
    .join('\n');
const withBody = (lines: string[], body?: string) =>
  (body === undefined
    ? [...lines, 'Content-Length: 0', '', '']
    : [...lines, 'Content-Type: application/sdp', 'Content-Length: [len]', '', body]
  ).join('\n');
const sent = (text: string, retransmits = false) =>
  `<send${retransmits ? ' retrans="500"' : ''}><![CDATA[\n${text}\n]]></send>`;

/** From and To of what the peer sends within the dialog. */
const withinBy = {
  callee: ['From:[$to];tag=[pid]t[call_number]', 'To[$from]', '[last_Call-ID:]'],
  caller: [
    'From: <sip:peer@[local_ip]:[local_port]>;tag=[pid]c[call_number]',
    'To: <sip:us@[remote_ip]:[remote_port]>[peer_tag_param]',
    'Call-ID: [call_id]',
  ],
};

const request = (method: string, cseq: number, names: string[], more: string[], body?: string, url = '[next_url]') =>
  sent(
    withBody(
      [
        `${method} ${url} SIP/2.0`,
        'Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]',
        ...names,
        `CSeq: ${cseq} ${method}`,
        'Max-Forwards: 70',
        contact,
        ...more,
      ],
      body,
    ),
    method !== 'ACK',
  );

const answered = (more: string[], tag = '', body?: string) =>
  sent(
    withBody(
      [
        'SIP/2.0 200 OK',
        '[last_Via:]',
        '[last_From:]',
        `[last_To:]${tag}`,
        '[last_Call-ID:]',
        '[last_CSeq:]',
        contact,
      ].concat(more),
      body,
    ),
    body !== undefined,
  );

const answers = (refresher: 'peer' | 'us', allow: string) => `
<recv request="INVITE" rrs="true"><action>
  <ereg regexp=".*" search_in="hdr" header="To:" assign_to="to"/>
  <ereg regexp=":.*" search_in="hdr" header="From" assign_to="from"/>
</action></recv>
${answered([`${SESSION}${refresher === 'peer' ? 'uas' : 'uac'}`, 'Require: timer', allow], ';tag=[pid]t[call_number]', sdp())}
<recv request="ACK"/>`;

const places = (refresher: 'peer' | 'us', allow: string) => `
${request(
  'INVITE',
  1,
  [
    'From: <sip:peer@[local_ip]:[local_port]>;tag=[pid]c[call_number]',
    'To: <sip:us@[remote_ip]:[remote_port]>',
    'Call-ID: [call_id]',
  ],
  ['Supported: timer', `${SESSION}${refresher === 'peer' ? 'uac' : 'uas'}`, allow],
  sdp(),
  'sip:us@[remote_ip]:[remote_port]',
)}
<recv response="100" optional="true"/>
<recv response="180" optional="true"/>
<recv response="200" rrs="true"/>
${ack(1, withinBy.caller)}`;

function ack(cseq: number, names: string[]): string {
  return request('ACK', cseq, names, []);
}

const sends = (method: 'UPDATE' | 'INVITE', cseq: number, names: string[], direction?: string) =>
  [
    request(
      method,
      cseq,
      names,
      ['Supported: timer', `${SESSION}uac`],
      method === 'INVITE' ? sdp(direction) : undefined,
    ),
    '<recv response="100" optional="true"/>',
    '<recv response="200"/>',
    ...(method === 'INVITE' ? [ack(cseq, names)] : []),
  ].join('\n');

const takes = (method: 'UPDATE' | 'INVITE') =>
  [
    `<recv request="${method}" timeout="60000"/>`,
    answered([`${SESSION}uac`, 'Require: timer'], '', method === 'INVITE' ? sdp() : undefined),
    ...(method === 'INVITE' ? ['<recv request="ACK"/>'] : []),
  ].join('\n');
