import type { CallEvent, CallGateway } from '../../src/lines/telephony/call-gateway.ts';

type Ended = Extract<CallEvent, { type: 'ended' }>;

/** A gateway whose calls end as `told` has it, and for which a telephone rings. */
export const toldOtherwise = (gateway: CallGateway, told: (ended: Ended) => Ended | Promise<Ended>): CallGateway => ({
  ...gateway,
  capabilities: { ...gateway.capabilities, simulated: false },
  onEvents: (listener) =>
    gateway.onEvents((events) => {
      for (const event of events) {
        if (event.type !== 'ended') listener([event]);
        else void Promise.resolve(told(event)).then((end) => listener([end]));
      }
    }),
});

/** The end of a call that was answered, of an agent that broke off and was never heard. */
export const unheard = (ended: Ended): Ended =>
  ended.outcome === 'answered'
    ? {
        ...{ ...ended, outcome: 'agent_error', endedBy: 'error' },
        agentEnd: { reason: 'crashed', closeCode: 1008, text: 'No such key.', soundLeftOutMs: 0, framesMissed: 0 },
      }
    : ended;
