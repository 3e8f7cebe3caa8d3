import { expect, test } from 'vitest';
import { redacted } from './ladder.ts';
import { createRequest, setBody } from './message.ts';

const KEY = 'd0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj';

test.each([
  [`a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}|2^20|1:4`, 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 (hidden)'],
  [`a=CRYPTO:1  AEAD_AES_128_GCM  INLINE:${KEY};inline:${KEY}`, 'a=CRYPTO:1  AEAD_AES_128_GCM (hidden)'],
  [`a=crypto:1 x y ${KEY}`, 'a=crypto:1 x (hidden)'],
  [`a=key-mgmt:mikey ${KEY}`, 'a=key-mgmt:(hidden)'],
  [`k=base64:${KEY}`, 'k=base64:(hidden)'],
])('no key is shown: %s', (line, shown) => {
  const body = `v=0\r\nm=audio 4000 RTP/SAVP 0\r\n${line}\r\na=sendrecv\r\n`;
  const request = createRequest('INVITE', 'sip:a@example.com');
  setBody(request, 'Application/SDP', body);
  const text = redacted(request);
  expect(text).toContain(`RTP/SAVP 0\r\n${shown}\r\na=sendrecv`);
  expect(text).not.toContain(KEY);
});
