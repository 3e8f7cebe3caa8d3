import { test } from 'vitest';
import { createRequest, createResponse } from '../../../../packages/sip/src/message.ts';
import { standardTimers, Timers } from '../../../../packages/sip/src/timers.ts';
import { Transactions } from '../../../../packages/sip/src/transactions.ts';
import { expectNoGrowth } from './cost-of-one.ts';

const idle = { now: () => 0, setTimeout: () => ({}), clearTimeout: () => {} };

test('a SIP transaction costs the same however many are under way', () =>
  expectNoGrowth((others) => {
    const target = { transport: 'udp', address: '192.0.2.1', port: 5060 };
    const flow = { target, isOpen: true, onClosed: () => () => {} };
    const wire = { send: async () => {}, outgoing: () => ({}) };
    const context = { wire, timers: new Timers(idle), values: standardTimers, openBack: () => flow };
    const nobody = { onRequest: () => {}, onAck: () => {}, onStray: () => {} };
    const transactions = new Transactions(context as never, nobody);
    const user = { onResponse: () => {}, onTimeout: () => {}, onFailure: () => {} };
    const ask = (branch: number) => {
      const request = createRequest('INVITE', 'sip:callee@192.0.2.1');
      request.headers.add('via', `SIP/2.0/UDP a:5060;branch=z9hG4bK${branch}`).add('cseq', '1 INVITE');
      request.headers.add('from', '<sip:a@a>;tag=1').add('to', '<sip:b@b>').add('call-id', `${branch}`);
      return transactions.send(request, flow as never, user);
    };
    for (let branch = 0; branch < others; branch += 1) ask(branch);
    return (items) => {
      for (let item = 0; item < items; item += 1) {
        const transaction = ask(others + item);
        transactions.receive({ message: createResponse(transaction.request, 180), flow: flow as never });
        transaction.end();
      }
    };
  }));
