import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ProtocolName } from '../../../../src/lines/media/realtime/protocols.ts';
import { until } from '../../../until.ts';
import { testPlane } from '../plane.ts';
import { msOf, tone } from '../tone.ts';
import { openRealtimeCall } from './realtime-call.ts';
import { dialects, heardBy, startUnknownModel } from './unknown-model.ts';

const plane = testPlane();

test.concurrent.each(Object.keys(dialects) as ProtocolName[])(
  'a model of %s whose events come in another order, at other times and with others between them is understood',
  async (protocol) => {
    const ask = { protocol, model: 'of-tomorrow', backendModel: 'of-tomorrow' };
    await using call = await openRealtimeCall(plane, await startUnknownModel(protocol), { ask });
    expect(call.connected).toEqual({ connected: true });
    await call.media.answer();
    await until(() => msOf(700, call.peer.sound()) >= 300);
    // Nobody interrupts anybody.
    await sleep(1500);
    await call.peer.speak(tone(400, 3200));
    await until(() => msOf(400, heardBy(protocol, call.session)) >= 200);
    await sleep(500);
    call.model.goOn();
    await until(() => expect(call.ended()).toEqual([{ reason: 'hung_up' }]));
    expect(msOf(1000, call.peer.sound())).toBeGreaterThanOrEqual(400);
    expect(call.asked.filter(({ name }) => name === 'note')).toHaveLength(1);
    const { voice } = await call.close();
    expect(voice).toMatchObject({ messagesIgnored: 0, toolCalls: 2 });
    await until(() => call.transcript() !== undefined);
    const said = (role: string) =>
      (call.transcript() as { role: string; text: string }[])
        .filter((turn) => turn.role === role)
        .map(({ text }) => text);
    expect(said('agent').join(' ').replaceAll('  ', ' ')).toBe('Hello there. Goodbye.');
    expect(said('person')).toEqual(['Bye then.']);
  },
);
