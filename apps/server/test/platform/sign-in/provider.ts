import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Claims = Record<string, unknown>;

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

/** An identity provider: codes are good once, PKCE is held to, and tokens are signed by RS256. */
export async function startProvider() {
  const { publicKey, privateKey } = newKey();
  const codes = new Map<string, { challenge: string; nonce: string; claims: Claims; redirectUri: string }>();
  /** What the next tokens say otherwise than is right, and what they are signed with. */
  const forged: { claims: Claims; key: KeyObject; userInfo: Claims | undefined; tokenStatus: number } = {
    ...{ claims: {}, key: privateKey, userInfo: undefined, tokenStatus: 200 },
  };
  const asked: { path: string; authorization: string | undefined }[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const path = request.url!;
    asked.push({ path, authorization: request.headers.authorization });
    const json = (value: object, status = 200) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    };
    if (path === '/.well-known/openid-configuration')
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_response_iss_parameter_supported: true,
      });
    if (path === '/jwks')
      return json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] });
    if (path === '/userinfo') return json({ sub: 'ada', ...forged.userInfo });
    let text = '';
    for await (const chunk of request) text += chunk;
    const sent = new URLSearchParams(text);
    if (forged.tokenStatus !== 200) return json({ error: 'server_error' }, forged.tokenStatus);
    const code = codes.get(sent.get('code') ?? '');
    codes.delete(sent.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(sent.get('code_verifier') ?? '')
      .digest('base64url');
    if (!code || code.challenge !== challenge || code.redirectUri !== sent.get('redirect_uri'))
      return json({ error: 'invalid_grant' }, 400);
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      ...{ iss: issuer, aud: 'trunkline', sub: 'ada', iat: now, exp: now + 300, nonce: code.nonce },
      ...code.claims,
      ...forged.claims,
    };
    const signed = `${encoded({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${encoded(claims)}`;
    const idToken = `${signed}.${sign('sha256', Buffer.from(signed), forged.key).toString('base64url')}`;
    return json({ access_token: randomUUID(), token_type: 'Bearer', expires_in: 300, id_token: idToken });
  }

  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    asked,
    forged,
    /** A key that is none of the provider's. */
    otherKey: () => newKey().privateKey,
    /** Lets somebody in whom the authorization URL has led here. Answers what the browser comes back with. */
    letIn(url: string, claims: Claims): { code: string; state: string; iss: string } {
      const query = new URL(url).searchParams;
      const code = randomUUID();
      codes.set(code, {
        challenge: query.get('code_challenge')!,
        nonce: query.get('nonce')!,
        redirectUri: query.get('redirect_uri')!,
        claims,
      });
      return { code, state: query.get('state')!, iss: issuer };
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
