import { expect, test } from 'vitest';
import { DigitReceiver, DigitSender, digitsMs, isDigit } from './telephone-event.ts';

type Press = [digit: number, timestamp: number, duration: number, marker?: boolean];

const event = ([code, timestamp, duration, marker = false]: Press) => ({
  payload: Buffer.from([code, 10, duration >> 8, duration & 0xff]),
  timestamp,
  marker,
});
const heard = (...presses: Press[]) => {
  const receiver = new DigitReceiver();
  return presses.map((press) => receiver.hear(event(press)) ?? '').join('');
};

test('all packets of a press are one digit, and two presses are two', () => {
  expect(heard([1, 1000, 160, true], [1, 1000, 320], [1, 1000, 480], [1, 1000, 480], [1, 1000, 480])).toBe('1');
  expect(heard([1, 1000, 160, true], [1, 1000, 480], [1, 2000, 160, true], [1, 2000, 480])).toBe('11');
});

test('lost packets at the begin and at the end lose no digit', () => {
  expect(heard([1, 1000, 480], [1, 2000, 480])).toBe('11');
  expect(heard([1, 1000, 160, true], [1, 1960, 160])).toBe('11');
});

test('what comes late or twice is no further digit', () => {
  expect(heard([5, 1000, 320], [5, 1000, 160, true], [6, 3000, 160, true], [5, 1000, 480], [6, 3000, 160])).toBe('56');
});

test('a long press in segments is one digit', () => {
  expect(heard([9, 1000, 0xffff], [9, 1000 + 0xffff, 160], [9, 1000 + 0xffff, 320])).toBe('9');
});

test('a sender whose timestamps move within a press is heard once a press', () => {
  expect(heard([3, 0, 160, true], [3, 160, 320], [3, 320, 480], [3, 480, 640], [3, 2000, 160, true])).toBe('33');
});

test('timestamps wrap', () => {
  expect(heard([1, 0xffffff00, 160, true], [2, 500, 160, true])).toBe('12');
});

test('all digits are known; flash and cut packets are none', () => {
  expect(heard(...Array.from({ length: 18 }, (_, code): Press => [code, code * 1000, 160, true]))).toBe(
    '0123456789*#ABCD',
  );
  expect(new DigitReceiver().hear({ payload: Buffer.from([1, 10, 0]), timestamp: 1, marker: true })).toBeUndefined();
  expect(['0', '#', 'D', 'E', '', '11'].map(isDigit)).toEqual([true, true, true, false, false, false]);
});

test('what is sent is heard, with three end packets and a pause', () => {
  const sender = new DigitSender();
  const receiver = new DigitReceiver();
  sender.add('11#');
  const packets = Array.from({ length: 60 }, (_, at) => ({ at, packet: sender.next(at * 160, 160) }));
  const sent = packets.filter(({ packet }) => packet);
  expect(sent.map(({ packet }) => receiver.hear(packet!) ?? '').join('')).toBe('11#');
  expect(sent.filter(({ packet }) => packet!.marker)).toHaveLength(3);
  expect(sent.filter(({ packet }) => packet!.payload[1]! & 0x80)).toHaveLength(9);
  expect(new Set(sent.map(({ packet }) => packet!.timestamp))).toEqual(new Set([0, 9 * 160, 18 * 160]));
  expect(sent.map(({ at }) => at).filter((at, index, all) => index > 0 && at - all[index - 1]! > 2)).toEqual([9, 18]);
});

test('pauses stand between digits, and each request is told once its own are sent', () => {
  const sender = new DigitSender();
  const told: string[] = [];
  sender.add('1w2', (isSent) => told.push(`first ${isSent}`));
  sender.add('3WW', (isSent) => told.push(`second ${isSent}`));
  sender.add('4', (isSent) => told.push(`third ${isSent}`));
  const begins: string[] = [];
  for (let at = 0; at < 200; at += 1) {
    const packet = sender.next(at * 160, 160);
    if (packet?.marker) begins.push(`${packet.digit} at ${at * 20}`);
    if (packet?.digit === '4') sender.drop();
  }
  // A digit and its end packets take 140 ms, and the pause after it 60 at least, of which 20 are the last packet's own.
  expect(begins).toEqual(['1 at 0', '2 at 680', '3 at 860', '4 at 3040']);
  expect(told).toEqual(['first true', 'second true', 'third false']);
  expect(digitsMs('1w2')).toBe(820);
});
