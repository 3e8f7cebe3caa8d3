import { expect, test } from 'vitest';
import { agentSignature, isAgentSignature } from './agent-signature.ts';

const at = new Date('2026-11-22T06:00:00.700Z');

test('a signature is that of its time, call and secret, and of no other', () => {
  const signature = agentSignature('s3cret', 'room_1', at);
  expect(signature).toBe('t=1795327200,v1=1e7a7006cd664aed6f89d06faba5799d18f84fe45119cb384865f80f3a488128');
  const check = (secret: string, call: string, seconds: number) =>
    isAgentSignature(signature, secret, call, new Date(at.getTime() + seconds * 1000));
  expect(check('s3cret', 'room_1', 0)).toBe(true);
  expect(check('s3cret', 'room_1', 299)).toBe(true);
  expect(check('s3cret', 'room_1', 301)).toBe(false);
  expect(check('s3cret', 'room_2', 0)).toBe(false);
  expect(check('other', 'room_1', 0)).toBe(false);
});

test('what is no signature is none', () => {
  for (const text of ['', 't=1,v1=00', 'nonsense', `t=x,v1=${'0'.repeat(64)}`])
    expect(isAgentSignature(text, 's3cret', 'room_1', at)).toBe(false);
});
