import { expect, test } from 'vitest';
import type { AgentEnd } from '../../lines/media/agent-end.ts';
import { type EndOfAgent, newsOfAgents } from './agent-ends.ts';

const at = (second: number) => new Date(Date.UTC(2026, 2, 10, 12) + second * 1000);
const ended = (second: number, end: Partial<AgentEnd>, more: Partial<EndOfAgent> = {}): EndOfAgent => ({
  ...{ workspaceId: 'w', agentId: 'anna', endedAt: at(second), answeredAt: at(0), hasTold: false },
  end: { reason: 'crashed', soundLeftOutMs: 0, framesMissed: 0, ...end },
  ...more,
});
const failed = (second: number, reason: AgentEnd['reason'] = 'crashed') => ended(second, { reason });
const heard = (second: number, firstSoundMs: number) => ended(second, { reason: 'call_ended', firstSoundMs });

test.each([
  ['failures in a row', [failed(1), failed(3, 'mute'), failed(2)], [3, at(3), 'mute', null]],
  ['one that was heard ends the row', [failed(1), heard(9, 2000), failed(3)], [1, at(3), 'crashed', at(2)]],
  ['when it was heard counts, and not when the call ended', [heard(9, 500), failed(2)], [1, at(2), 'crashed', at(0.5)]],
  ['one that broke off after it was heard has not failed', [ended(5, { firstSoundMs: 100 })], [0, null, null, at(0.1)]],
] as const)('%s', (_, ends, [failures, failedAt, reason, heardAt]) => {
  const at = { workspaceId: 'w', agentId: 'anna', failures, failedAt, reason, heardAt, limitedAt: null };
  expect(newsOfAgents(ends)).toEqual([at]);
});

test.each([
  ['the callee hung up', failed(1, 'call_ended')],
  ['both were silent', failed(1, 'silence')],
  ['the fault was ours', failed(1, 'media_lost')],
  ['it has told what came of the call', ended(1, { reason: 'hung_up' }, { hasTold: true })],
])('nothing is said of an agent that was not heard if %s', (_, end) => {
  expect(newsOfAgents([end])).toEqual([]);
});

test('one whose model had no rate or quota left has not failed', () => {
  const [news] = newsOfAgents([failed(1), failed(3, 'limit_reached'), failed(2, 'limit_reached')]);
  expect(news).toMatchObject({ failures: 1, reason: 'crashed', limitedAt: at(3) });
});

test('agents are told apart, in the order of their keys', () => {
  const ends = [failed(1), { ...failed(1), agentId: 'bob b' }, { ...failed(1), workspaceId: 'v' }];
  expect(newsOfAgents(ends).map(({ workspaceId, agentId }) => [workspaceId, agentId])).toEqual([
    ['v', 'anna'],
    ['w', 'anna'],
    ['w', 'bob b'],
  ]);
});
