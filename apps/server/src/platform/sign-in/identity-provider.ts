import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import type { SendRequest } from '../../foundation/outbound-http/guarded-request.ts';
import { OutboundError } from '../../foundation/outbound-http/outbound-error.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { keptAddress } from '../members/member.ts';

type Library = typeof import('openid-client');
type Client = import('openid-client').Configuration;

/** What a sign-in begins with, and is held to when the browser comes back. */
export interface Begun {
  state: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
  redirectUri: string;
}

/** What the provider sends the browser back with. */
export interface CameBack {
  code: string;
  state: string;
  iss?: string;
}

/** Who signs people in, by OpenID Connect. */
export interface IdentityProvider {
  /** Where the browser is to go. Throws `provider_error`. */
  begin(redirectUri: string): Promise<{ url: string; begun: Begun }>;
  /**
   * The address of who has come back, verified by the provider. Throws `unauthorized` where the provider's word does not
   * hold, `forbidden` for an address that it has not verified, and `provider_error`.
   */
  finish(begun: Begun, back: CameBack): Promise<string>;
}

/** What the provider said at first holds so long. */
const HOLDS_MS = 3600_000;
const TIMEOUT_SECONDS = 10;
const SCOPE = 'openid email';
const MOST_BYTES = 1024 * 1024;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

type Settings = Pick<Config, 'oidcIssuer' | 'oidcClientId' | 'oidcClientSecret'>;

/** The provider of the settings; nothing where they name none. It is asked first when somebody signs in. */
export function openIdentityProvider(settings: Settings, send: SendRequest, log: Logger): IdentityProvider | undefined {
  const { oidcIssuer, oidcClientId } = settings;
  if (!oidcIssuer || !oidcClientId) return undefined;
  let known: { client: Promise<Client>; at: number } | undefined;

  /** What goes wrong is logged: those who sign in are told no more than whether to try again. */
  async function withClient<T>(act: (oidc: Library, client: Client) => Promise<T>): Promise<T> {
    const oidc = await import('openid-client');
    try {
      if (!known || performance.now() - known.at > HOLDS_MS)
        known = { client: discover(oidc, settings, oidcIssuer!, send), at: performance.now() };
      const { client } = known;
      return await act(
        oidc,
        await client.catch((error) => {
          known = undefined;
          throw error;
        }),
      );
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      const { code, error: said, message } = error as { code?: string; error?: string; message: string };
      log.warn({ reason: code ?? message, said }, 'the identity provider was not followed');
      throw isOfProvider(oidc, error) ? providerError() : refused();
    }
  }

  return {
    begin: (redirectUri) =>
      withClient(async (oidc, client) => {
        const begun = {
          ...{ state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() },
          redirectUri,
        };
        const { href } = oidc.buildAuthorizationUrl(client, {
          redirect_uri: redirectUri,
          scope: SCOPE,
          code_challenge: await oidc.calculatePKCECodeChallenge(begun.verifier),
          code_challenge_method: 'S256',
          state: begun.state,
          nonce: begun.nonce,
        });
        return { url: href, begun };
      }),

    finish: (begun, back) =>
      withClient(async (oidc, client) => {
        const url = new URL(begun.redirectUri);
        url.search = new URLSearchParams({ ...back }).toString();
        const tokens = await oidc.authorizationCodeGrant(client, url, {
          pkceCodeVerifier: begun.verifier,
          expectedState: begun.state,
          expectedNonce: begun.nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims()!;
        const isSaidElsewhere = claims['email'] === undefined && client.serverMetadata().userinfo_endpoint;
        const { email, email_verified: isVerified } = isSaidElsewhere
          ? await oidc.fetchUserInfo(client, tokens.access_token, claims.sub)
          : claims;
        if (typeof email !== 'string' || isVerified !== true) throw unverified();
        return keptAddress(email);
      }),
  };
}

/** Asks the provider where it is asked for what, and how it wants to be told who asks. */
async function discover(oidc: Library, settings: Settings, issuer: string, send: SendRequest): Promise<Client> {
  const { oidcClientId, oidcClientSecret } = settings;
  const url = new URL(issuer);
  const mayBePlain = LOOPBACK.test(url.hostname);
  const fetch = guardedFetch(send);
  const execute = mayBePlain ? [oidc.allowInsecureRequests] : [];
  const asked = { [oidc.customFetch]: fetch, execute, timeout: TIMEOUT_SECONDS };
  const found = await oidc.discovery(url, oidcClientId!, undefined, oidc.None(), asked);
  const metadata = found.serverMetadata();
  const ways = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const byHeader = ways.includes('client_secret_basic');
  const proof = byHeader ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
  const client = new oidc.Configuration(
    metadata,
    oidcClientId!,
    undefined,
    oidcClientSecret === undefined ? oidc.None() : proof(oidcClientSecret),
  );
  client[oidc.customFetch] = fetch;
  client.timeout = TIMEOUT_SECONDS;
  if (mayBePlain) oidc.allowInsecureRequests(client);
  // The signature of what says who it is counts too, not only the line that it came over.
  oidc.enableNonRepudiationChecks(client);
  return client;
}

/** Sends as all that leaves the server is sent: to no address of its own network that is not allowed, and with bounds. */
const guardedFetch =
  (send: SendRequest): import('openid-client').CustomFetch =>
  async (url, { body, headers, method, signal }) => {
    const answer = await send({
      workspaceId: 'sign-in',
      method: method as 'GET' | 'POST',
      url,
      headers,
      ...(body !== null && body !== undefined && { body: String(body) }),
      timeoutMs: TIMEOUT_SECONDS * 1000,
      maxBytes: MOST_BYTES,
      signal,
    });
    return new Response(new Uint8Array(answer.body), { status: answer.status, headers: answer.headers });
  };

/** Whether the provider is away, or has answered what no provider should: who signs in can do nothing about that. */
function isOfProvider(oidc: Library, error: unknown): boolean {
  for (let each: unknown = error; each instanceof Error; each = each.cause)
    if (each instanceof OutboundError) return true;
  if (error instanceof oidc.ResponseBodyError) return error.error !== 'invalid_grant';
  const { code } = error as { code?: string };
  return code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' || code === 'OAUTH_RESPONSE_IS_NOT_JSON' || code === 'OAUTH_TIMEOUT';
}

const providerError = () =>
  new ServiceError('provider_error', 'The identity provider can not be asked now. Try again, or tell your operator.');
const refused = () =>
  new ServiceError('unauthorized', 'The identity provider has not confirmed this sign-in. Begin it again.');
const unverified = () =>
  new ServiceError(
    'forbidden',
    'The identity provider has not verified your address of mail, so nobody can sign in by it.',
  );
