import { expect, test } from 'vitest';
import type { OutboundRequest } from '../../foundation/outbound-http/guarded-request.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { toolCaller } from './call-tool.ts';

test('one use of a tool has one webhook-id, however often it is sent, and another one has another', async () => {
  const sent: string[] = [];
  const send = async ({ headers }: OutboundRequest) => {
    sent.push(headers!['webhook-id']!);
    return { status: 200, headers: {}, body: Buffer.from('') };
  };
  const { call } = toolCaller(send as never);
  const served = { workspaceId: newUuid(), roomId: newUuid(), agentId: 'agent_a' };
  const tool = { name: 'slots', url: 'https://example.com/', headers: {}, timeoutMs: 1000 };
  const use = (id: string, args: object, roomId = served.roomId) =>
    call({ ...served, roomId }, { id, tool, args, secret: 'secret' });
  await use('call_1', { day: 1 });
  await use('call_1', { day: 1 });
  expect(new Set(sent).size).toBe(1);
  await use('call_2', { day: 1 });
  await use('call_1', { day: 2 });
  await use('call_1', { day: 1 }, newUuid());
  await use('', { day: 1 });
  await use('', { day: 1 });
  expect(new Set(sent).size).toBe(6);
});
