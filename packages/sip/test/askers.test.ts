import { expect, test } from 'vitest';
import type { IncomingCall, UserAgentOptions } from '../src/index.ts';
import { sdpAnswer, sdpOffer, startAgent, until } from './agents.ts';

/** A user agent whose Contact has a name, in a world where all names lead here; and who asked for which. */
async function named(name: string, options: UserAgentOptions = {}) {
  const asked: string[] = [];
  let by = '';
  const agent = await startAgent({
    publicAddress: name,
    resolver: {
      srv: async () => ({ records: [], ttlSeconds: 60 }),
      async addresses(each, family) {
        if (family === 4) asked.push(`${by}: ${each}`);
        return { records: family === 4 ? ['127.0.0.1'] : [], ttlSeconds: 60 };
      },
    },
    turns: (asker, ask) => {
      by = asker;
      return ask();
    },
    ...options,
  });
  return { agent, asked };
}

test('names are asked for on behalf of whom it was said, those that a peer gives in a call too', async () => {
  const calls: IncomingCall[] = [];
  const callee = await named('callee.example', {
    onInvite(call) {
      call.asker = 'taken';
      calls.push(call);
      call.answer(sdpAnswer);
    },
  });
  const { port } = callee.agent;
  const { agent, asked } = await named('caller.example');
  const call = { to: `sip:b@trunk.example:${port}`, from: 'sip:a@example.com', sdp: sdpOffer, asker: 'placed' };

  const first = agent.invite(call);
  await first.answered;
  await first.hangUp();
  expect(asked.splice(0)).toEqual(['placed: trunk.example', 'placed: callee.example']);

  const second = agent.invite(call);
  await second.answered;
  await until(() => calls.length === 2);
  await calls[1]!.hangUp();
  expect(callee.asked).toEqual(['taken: caller.example']);

  const third = agent.invite(call);
  await third.answered;
  const after = await named('after.example');
  await after.agent.endStored(third.stored!, { asker: 'ended' });
  expect(after.asked).toEqual(['ended: callee.example']);

  await agent.probe({ uri: `sip:probed.example:${port}`, asker: 'probe' });
  const registrar = `sip:registrar.example:${port}`;
  await agent.register({ registrar, address: 'sip:a@example.com', asker: 'registration' }).stop();
  await agent.locate('sip:located.example:5060', undefined, 'ours');
  await agent.locate('sip:other.example:5060');
  expect(asked).toEqual([
    'probe: probed.example',
    'registration: registrar.example',
    'ours: located.example',
    ': other.example',
  ]);
});
