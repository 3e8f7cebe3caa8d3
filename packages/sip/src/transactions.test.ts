import { expect, test } from 'vitest';
import { requestOf, responseTo, transactionStand } from '../test/transaction-stand.ts';
import { InviteClientTransaction } from './invite-client-transaction.ts';
import { InviteServerTransaction } from './invite-server-transaction.ts';
import { NonInviteClientTransaction } from './non-invite-client-transaction.ts';
import { NonInviteServerTransaction } from './non-invite-server-transaction.ts';
import { Transactions, type TransactionsUser } from './transactions.ts';

const invite = (transport: 'udp' | 'tcp' = 'udp') => {
  const stand = transactionStand(transport);
  const ends: number[] = [];
  const transaction = new InviteClientTransaction(stand.context, requestOf('INVITE'), stand.flow, stand.user, () =>
    ends.push(stand.clock.now()),
  );
  transaction.start();
  const receive = (status: number) => transaction.receive(responseTo(transaction.request, status), stand.flow);
  return { ...stand, transaction, receive, ends };
};

const times = (sent: [number, string][], line: string) => sent.filter(([, each]) => each === line).map(([ms]) => ms);

test('an INVITE over UDP is sent at 0, 0.5, 1.5, 3.5 … s and times out after 32 s (timers A and B)', async () => {
  const { clock, sent, heard, ends, timers } = invite();
  await clock.advance(40_000);
  expect(times(sent, 'INVITE')).toEqual([0, 500, 1500, 3500, 7500, 15_500, 31_500]);
  expect(heard).toEqual(['timeout']);
  expect(ends).toHaveLength(1);
  expect(timers.count).toBe(0);
});

test('over TCP it is sent once, and times out as well', async () => {
  const { clock, sent, heard } = invite('tcp');
  await clock.advance(40_000);
  expect(times(sent, 'INVITE')).toEqual([0]);
  expect(heard).toEqual(['timeout']);
});

test('a provisional response stops all timers of an INVITE, and it may ring for long', async () => {
  const { clock, sent, heard, receive } = invite();
  await clock.advance(100);
  receive(180);
  await clock.advance(200_000);
  receive(180);
  expect(times(sent, 'INVITE')).toEqual([0]);
  expect(heard).toEqual(['180', '180']);
});

test('a refusal is acknowledged each time it comes, for 32 s over UDP (timer D)', async () => {
  const { clock, sent, heard, receive, ends, timers } = invite();
  receive(486);
  await clock.advance(500);
  receive(486);
  receive(503);
  expect(times(sent, 'ACK')).toEqual([0, 500, 500]);
  expect(heard).toEqual(['486']);
  await clock.advance(31_400);
  expect(ends).toEqual([]);
  await clock.advance(200);
  expect(ends).toHaveLength(1);
  expect(timers.count).toBe(0);
  const overTcp = invite('tcp');
  overTcp.receive(486);
  expect(overTcp.ends).toHaveLength(1);
});

test('what comes after a refusal changes nothing: no 2xx, and nothing that rings', async () => {
  const { clock, heard, receive, sent } = invite();
  receive(486);
  receive(180);
  receive(200);
  expect(heard).toEqual(['486']);
  expect(times(sent, 'ACK')).toEqual([0]);
  await clock.advance(33_000);
  receive(200);
  expect(heard).toEqual(['486']);
});

test('after a 2xx it stays for 32 s, for those of other forks (timer M), and acknowledges nothing itself', async () => {
  const { clock, sent, heard, receive, ends } = invite();
  receive(200);
  await clock.advance(20_000);
  receive(200);
  receive(486);
  receive(180);
  expect(heard).toEqual(['200', '200']);
  expect(times(sent, 'ACK')).toEqual([]);
  await clock.advance(13_000);
  expect(ends).toHaveLength(1);
  receive(200);
  expect(heard).toHaveLength(2);
});

test('an INVITE surely never left where the socket did not take it', async () => {
  const { context, flow, user, heard, timers, clock, fail } = transactionStand();
  fail('unreachable');
  new InviteClientTransaction(context, requestOf('INVITE'), flow, user, () => {}).start();
  await clock.advance(0);
  expect(heard).toEqual(['unreachable not sent']);
  expect(timers.count).toBe(0);
});

test('an INVITE may have left where only a later try failed, or the connection closed', async () => {
  const later = invite();
  await later.clock.advance(100);
  later.fail('unreachable');
  await later.clock.advance(40_000);
  expect(later.heard).toEqual(['timeout']);
  const closed = invite('tcp');
  await closed.clock.advance(10);
  closed.close();
  expect(closed.heard).toEqual(['lost may have left']);
  const ringing = invite('tcp');
  ringing.receive(180);
  ringing.close();
  ringing.receive(200);
  expect(ringing.heard).toEqual(['180', '200']);
});

test('other requests are sent at 0, 0.5, 1.5, 3.5, 7.5, 11.5 … s and time out after 32 s (timers E and F)', async () => {
  const { context, flow, user, clock, sent, heard, timers } = transactionStand();
  new NonInviteClientTransaction(context, requestOf('BYE'), flow, user, () => {}).start();
  await clock.advance(40_000);
  expect(times(sent, 'BYE')).toEqual([0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500]);
  expect(heard).toEqual(['timeout']);
  expect(timers.count).toBe(0);
});

test('after a provisional response other requests go on every 4 s, and their final response counts once and ends them', async () => {
  const { context, flow, user, clock, sent, heard, timers } = transactionStand();
  const bye = new NonInviteClientTransaction(context, requestOf('BYE'), flow, user, () => {});
  bye.start();
  await clock.advance(100);
  bye.receive(responseTo(bye.request, 100), flow);
  await clock.advance(9000);
  expect(times(sent, 'BYE')).toEqual([0, 500, 4500, 8500]);
  bye.receive(responseTo(bye.request, 200), flow);
  bye.receive(responseTo(bye.request, 200), flow);
  expect(heard).toEqual(['100', '200']);
  expect(timers.count).toBe(0);
});

const served = (transport: 'udp' | 'tcp' = 'udp') => {
  const stand = transactionStand(transport);
  const ends: number[] = [];
  const transaction = new InviteServerTransaction(stand.context, requestOf('INVITE'), stand.flow, () => ends.push(1));
  const respond = (status: number) => transaction.respond(responseTo(transaction.request, status));
  return { ...stand, transaction, respond, ends };
};

test('our refusal of an INVITE over UDP is sent again until its ACK, for 32 s (timers G and H)', async () => {
  const { clock, sent, respond, transaction, ends, timers } = served();
  respond(180);
  transaction.repeat();
  respond(486);
  await clock.advance(8000);
  transaction.repeat();
  await clock.advance(0);
  const line = 'SIP/2.0 486 Busy Here';
  expect(times(sent, 'SIP/2.0 180 Ringing')).toEqual([0, 0]);
  expect(times(sent, line)).toEqual([0, 500, 1500, 3500, 7500, 8000]);
  await clock.advance(40_000);
  expect(times(sent, line).at(-1)).toBe(31_500);
  expect(ends).toHaveLength(1);
  expect(timers.count).toBe(0);
  const acknowledged = served();
  acknowledged.respond(486);
  acknowledged.transaction.acknowledge();
  await acknowledged.clock.advance(4900);
  expect(acknowledged.ends).toEqual([]);
  await acknowledged.clock.advance(200);
  expect(acknowledged.ends).toHaveLength(1);
  expect(times(acknowledged.sent, line)).toEqual([0]);
});

test('over TCP our refusal is sent once; a 2xx is its sender’s to repeat (timers I and L)', async () => {
  const refused = served('tcp');
  refused.respond(486);
  await refused.clock.advance(5000);
  expect(refused.sent).toHaveLength(1);
  refused.transaction.acknowledge();
  expect(refused.ends).toHaveLength(1);
  const answered = served();
  answered.respond(200);
  answered.transaction.repeat();
  answered.respond(486);
  await answered.clock.advance(31_000);
  expect(answered.sent).toEqual([[0, 'SIP/2.0 200 OK']]);
  expect(answered.ends).toEqual([]);
  await answered.clock.advance(2000);
  expect(answered.ends).toHaveLength(1);
});

test('our response to another request is sent again when it comes again, for 32 s over UDP (timer J)', async () => {
  const { context, flow, clock, sent, timers } = transactionStand();
  const ends: number[] = [];
  const transaction = new NonInviteServerTransaction(context, requestOf('BYE'), flow, () => ends.push(1));
  transaction.repeat();
  transaction.respond(responseTo(transaction.request, 200));
  transaction.respond(responseTo(transaction.request, 500));
  transaction.repeat();
  await clock.advance(31_900);
  expect(times(sent, 'SIP/2.0 200 OK')).toEqual([0, 0]);
  expect(ends).toEqual([]);
  await clock.advance(200);
  expect(ends).toHaveLength(1);
  expect(timers.count).toBe(0);
});

const layer = () => {
  const stand = transactionStand();
  const told: string[] = [];
  const user: TransactionsUser = {
    onRequest: ({ request }) => told.push(request.method),
    onAck: () => told.push('ACK of a 2xx'),
    onStray: ({ status }) => told.push(`stray ${status}`),
  };
  return { ...stand, told, transactions: new Transactions(stand.context, user) };
};

test('responses find their request by branch and method, from whatever address; others are strays', async () => {
  const { transactions, flow, user, heard, told } = layer();
  const request = requestOf('INVITE');
  transactions.send(request, flow, user);
  const elsewhere = { ...flow, target: { ...flow.target, address: '198.51.100.7' } };
  transactions.receive({ message: responseTo(request, 180), flow: elsewhere });
  transactions.receive({ message: responseTo(requestOf('CANCEL'), 200), flow });
  expect(heard).toEqual(['180']);
  expect(told).toEqual(['stray 200']);
});

test('a request that comes again is taken once, and CANCEL and ACK find their INVITE', async () => {
  const { transactions, flow, told, sent, clock } = layer();
  const request = requestOf('INVITE');
  transactions.receive({ message: request, flow });
  transactions.receive({ message: request, flow });
  transactions.receive({ message: requestOf('CANCEL'), flow });
  transactions.receive({ message: requestOf('CANCEL'), flow });
  await clock.advance(0);
  expect(told).toEqual(['INVITE']);
  expect(times(sent, 'SIP/2.0 200 OK')).toEqual([0, 0]);
  transactions.receive({ message: requestOf('ACK'), flow });
  expect(told).toEqual(['INVITE']);
  const stranger = requestOf('CANCEL');
  stranger.headers.set('via', 'SIP/2.0/UDP 192.0.2.9;branch=z9hG4bKother');
  transactions.receive({ message: stranger, flow });
  const ack = requestOf('ACK');
  ack.headers.set('via', 'SIP/2.0/UDP 192.0.2.9;branch=z9hG4bKthird');
  transactions.receive({ message: ack, flow });
  expect(told).toEqual(['INVITE', 'CANCEL', 'ACK of a 2xx']);
});

test('a peer older than RFC 3261 is matched by what its requests name, and two senders with one branch are two', () => {
  const { transactions, flow, told } = layer();
  const old = (callId: string) => {
    const request = requestOf('OPTIONS');
    request.headers.set('via', 'SIP/2.0/UDP 192.0.2.9;branch=1').set('call-id', callId);
    return request;
  };
  for (const callId of ['a', 'a', 'b']) transactions.receive({ message: old(callId), flow });
  const other = requestOf('OPTIONS');
  other.headers.set('via', 'SIP/2.0/UDP 192.0.2.10;branch=z9hG4bKone');
  for (const message of [requestOf('OPTIONS'), other]) transactions.receive({ message, flow });
  expect(told).toHaveLength(4);
  expect(transactions.count).toBe(4);
  transactions.endAll();
  expect(transactions.count).toBe(0);
});
