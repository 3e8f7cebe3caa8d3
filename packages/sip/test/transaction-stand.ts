import { createRequest, createResponse, type SipRequest, type SipResponse } from '../src/message.ts';
import { standardTimers, Timers } from '../src/timers.ts';
import type { ClientTransactionUser, TransactionContext } from '../src/transaction.ts';
import { type Flow, TransportError, type TransportName } from '../src/transport.ts';
import { firstLine } from '../src/write-message.ts';
import { TestClock } from './test-clock.ts';

/** Transactions without a network: what they send is noted with the milliseconds since the beginning. */
export function transactionStand(transport: TransportName = 'udp') {
  const clock = new TestClock();
  const began = clock.now();
  const sent: [ms: number, line: string][] = [];
  const closing = new Set<() => void>();
  const state = { fails: undefined as TransportError | undefined };
  const flow: Flow = {
    target: { transport, address: '192.0.2.1', port: 5060 },
    local: { host: '192.0.2.9', port: 5060 },
    isInbound: false,
    isOpen: true,
    send: () => (state.fails ? Promise.reject(state.fails) : Promise.resolve()),
    onClosed(run) {
      closing.add(run);
      return () => closing.delete(run);
    },
  };
  const timers = new Timers(clock);
  const context: TransactionContext = {
    timers,
    values: standardTimers,
    openBack: () => flow,
    wire: {
      send({ message }, over) {
        sent.push([clock.now() - began, firstLine(message).replace('sip:bob@example.com SIP/2.0', '').trim()]);
        return over.send(Buffer.of());
      },
    },
  };
  const heard: string[] = [];
  const user: ClientTransactionUser = {
    onResponse: ({ status }) => heard.push(String(status)),
    onTimeout: () => heard.push('timeout'),
    onFailure: (error, mayHaveLeft) => heard.push(`${error.code} ${mayHaveLeft ? 'may have left' : 'not sent'}`),
  };
  const close = () => {
    for (const run of closing) run();
  };
  const fail = (code: TransportError['code']) => {
    state.fails = new TransportError(code, code);
  };
  return { clock, context, flow, user, heard, sent, timers, close, fail };
}

export function requestOf(method: string): SipRequest {
  const request = createRequest(method, 'sip:bob@example.com');
  request.headers
    .add('via', 'SIP/2.0/UDP 192.0.2.9;branch=z9hG4bKone;rport')
    .add('from', '<sip:ada@example.com>;tag=1');
  request.headers.add('to', '<sip:bob@example.com>').add('call-id', 'one').add('cseq', `1 ${method}`);
  return request;
}

export const responseTo = (request: SipRequest, status: number): SipResponse =>
  createResponse(request, status, 'theirs');
