import { type MediaEncryption, SdpSession } from '@trunkline/sip';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Sound } from '../../conversation/sound.ts';
import { Negotiation } from './negotiation.ts';

const local = { address: '127.0.0.1', codecs: ['PCMU'] as const };
const offerOf = (encryption: MediaEncryption) => new SdpSession({ ...local, port: 4000, encryption }).offer();
const sound = { open: async () => 4002, setStream: async () => {} } as Partial<Sound> as Sound;

async function answers(encryption: MediaEncryption, keysInClear: boolean) {
  const negotiation = new Negotiation('room', [], pino({ enabled: false }), () => {});
  await negotiation.open(sound, { ...local, encryption }, keysInClear);
  const { onOffer } = negotiation.handlers();
  const isAnswered = async (offer: string | undefined) => [
    (await onOffer!(offer, 'tls')) !== undefined,
    (await onOffer!(offer, 'udp')) !== undefined,
  ];
  return [await isAnswered(offerOf('preferred')), await isAnswered(undefined), await isAnswered(offerOf('none'))];
}

test.each([
  ['preferred', false, [true, false], [true, false], [true, true]],
  ['preferred', true, [true, true], [true, true], [true, true]],
  ['none', false, [true, true], [true, true], [true, true]],
] as const)(
  '%s, keys in clear: %s: over TLS and UDP, offers with keys, none and plain ones are answered',
  async (encryption, inClear, ...expected) => {
    expect(await answers(encryption, inClear)).toEqual(expected);
  },
);
