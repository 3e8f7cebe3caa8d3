import { expect, test } from 'vitest';
import type { ProtocolName } from '../../../../src/lines/media/realtime/protocols.ts';
import { until } from '../../../until.ts';
import { testPlane } from '../plane.ts';
import { startGeminiModel } from './gemini-model.ts';
import { startLiveModel } from './openai-live-model.ts';
import { startOpenaiModel } from './openai-model.ts';
import { openRealtimeCall } from './realtime-call.ts';

const plane = testPlane();

interface Session {
  socket: { send(text: string): void; close(code: number): void };
}
/** Starts the double of a protocol, which does something bad whenever it is asked to speak. */
const doubles = {
  openai_realtime: (asked: (session: Session) => void) => startOpenaiModel({ asked }),
  openai_live: (asked: (session: Session) => void) => startLiveModel({ asked }),
  gemini_live: (asked: (session: Session) => void) => startGeminiModel({ asked }),
};
const protocols = Object.keys(doubles) as ProtocolName[];

const openCall = async (protocol: ProtocolName, asked: (session: Session) => void) => {
  const ask = { protocol, model: 'bad', backendModel: 'bad' };
  const call = await openRealtimeCall(plane, await doubles[protocol](asked), { ask });
  await call.media.answer();
  return call;
};

test.concurrent.each(protocols)(
  '%s: one that closes at each word is opened twice, and its part is over',
  async (protocol) => {
    await using call = await openCall(protocol, ({ socket }) => socket.close(1011));
    await until(() => expect(call.ended()).toEqual([{ reason: 'crashed', closeCode: 1011 }]));
    expect(call.model.sessions).toHaveLength(2);
  },
);

const tenMegabytes = 'x'.repeat(10_000_000);
const largeCalls: Record<ProtocolName, object> = {
  openai_realtime: {
    ...{
      type: 'response.function_call_arguments.done',
      event_id: 'e',
      response_id: 'r',
      item_id: 'i',
      output_index: 0,
    },
    ...{ call_id: 'c', name: 'note', arguments: tenMegabytes },
  },
  openai_live: {
    type: 'response.event',
    event: {
      type: 'response.output_item.done',
      item: { type: 'function_call', call_id: 'c', name: 'note', arguments: tenMegabytes },
    },
  },
  gemini_live: { toolCall: { functionCalls: [{ id: 'c', name: 'note', args: { a: tenMegabytes } }] } },
};

test.concurrent.each(protocols)('%s: one whose tool has arguments of ten megabytes is let go of', async (protocol) => {
  await using call = await openCall(protocol, ({ socket }) => socket.send(JSON.stringify(largeCalls[protocol])));
  const text = 'It sent a message that is too long.';
  await until(() => expect(call.ended()).toEqual([{ reason: 'too_large', closeCode: 1009, text }]));
  expect(call.model.sessions).toHaveLength(2);
  expect(call.asked).toEqual([]);
});

/** A message of much sound: a minute, or ten seconds of 24 kHz. */
const soundOf: Record<ProtocolName, object> = {
  openai_realtime: {
    type: 'response.output_audio.delta',
    item_id: 'i',
    delta: Buffer.alloc(480_000, 0x55).toString('base64'),
  },
  openai_live: { type: 'session.output_audio.delta', delta: Buffer.alloc(480_000, 0x55).toString('base64') },
  gemini_live: {
    serverContent: {
      modelTurn: {
        parts: [
          { inlineData: { mimeType: 'audio/pcm;rate=24000', data: Buffer.alloc(480_000, 3).toString('base64') } },
        ],
      },
    },
  },
};

test.concurrent.each(protocols)(
  '%s: of an hour of sound at once five minutes wait at most, and what nobody heard is counted',
  async (protocol) => {
    await using call = await openCall(protocol, ({ socket }) => {
      const text = JSON.stringify(soundOf[protocol]);
      for (let i = 0; i < 60; i += 1) socket.send(text);
    });
    await until(() => call.peer.heard.length > 100);
    const { soundLeftOutMs } = await call.close();
    expect(soundLeftOutMs).toBeGreaterThan(0);
    expect(soundLeftOutMs).toBeLessThan(3_600_000);
  },
);
