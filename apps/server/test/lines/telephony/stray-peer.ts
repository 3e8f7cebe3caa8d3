import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { FRAME, writeRtpHeader } from '@trunkline/media';
import { createRequest, createResponse, setBody } from '../../../../../packages/sip/src/message.ts';
import { parseMessage } from '../../../../../packages/sip/src/parse-message.ts';
import { writeMessage } from '../../../../../packages/sip/src/write-message.ts';
import { tone } from '../media/tone.ts';

/**
 * A process: a carrier that is called at one address and says everything from another, its sound too, which its
 * description does not name. It hangs up after some seconds, and says how many packets it has heard.
 */
const [called, says, hertz] = process.argv.slice(2) as [string, string, string];
const TALK_MS = 3500;

async function bound(address: string): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, address);
  await once(socket, 'listening');
  return socket;
}
const [ear, mouth, voice] = [await bound(called), await bound(says), await bound(says)];
const described = await bound(called);
const contact = `<sip:stray@${says}:${mouth.address().port}>`;
let heard = 0;
voice.on('message', () => {
  heard += 1;
});

const take = (bytes: Buffer, from: { address: string; port: number }) => {
  if (bytes.length <= 4) return;
  const request = parseMessage(bytes);
  if (request.kind !== 'request' || request.method === 'ACK') return;
  const send = (message: Parameters<typeof writeMessage>[0]) =>
    mouth.send(writeMessage(message), from.port, from.address);
  const answer = createResponse(request, 200, 'stray');
  if (request.method === 'INVITE') {
    answer.headers.add('contact', contact);
    const lines = ['v=0', `o=- 1 1 IN IP4 ${called}`, 's=-', `c=IN IP4 ${called}`, 't=0 0'];
    setBody(answer, 'application/sdp', [...lines, `m=audio ${described.address().port} RTP/AVP 0`, ''].join('\r\n'));
    void talk(/c=IN IP4 (\S+)/.exec(request.body)![1]!, Number(/m=audio (\d+)/.exec(request.body)![1])).then(() => {
      const bye = createRequest('BYE', /<([^>]*)>/.exec(request.headers.get('contact')!)![1]!);
      bye.headers.add('via', `SIP/2.0/UDP ${says}:${mouth.address().port};branch=z9hG4bKbye;rport`);
      bye.headers.add('from', answer.headers.get('to')!).add('to', request.headers.get('from')!);
      bye.headers.add('call-id', request.headers.get('call-id')!).add('cseq', '1 BYE').add('max-forwards', '70');
      send(bye);
      process.stdout.write(`heard ${heard}\n`);
    });
  }
  send(answer);
};
ear.on('message', take);
mouth.on('message', take);

async function talk(address: string, port: number): Promise<void> {
  const began = performance.now();
  for (let at = 0; performance.now() - began < TALK_MS; at += 1) {
    const packet = Buffer.concat([Buffer.alloc(12), tone(Number(hertz), FRAME, at * FRAME)]);
    writeRtpHeader(packet, { payloadType: 0, marker: at === 0, sequence: at, timestamp: at * FRAME, ssrc: 7 });
    voice.send(packet, port, address);
    await new Promise((resolve) => setTimeout(resolve, began + (at + 1) * 20 - performance.now()));
  }
}
process.stdout.write(`port ${ear.address().port}\n`);
