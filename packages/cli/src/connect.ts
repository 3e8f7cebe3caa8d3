import { createClient, type TrunklineClient } from '@trunkline/client';
import { type Login, readLogin } from './config-file.ts';
import { usageFault } from './faults.ts';
import type { Io } from './io.ts';

/** The server and the key: those of the environment, else those that `login` has kept. */
export async function loginOf(env: Io['env']): Promise<Login> {
  const { TRUNKLINE_BASE_URL: url, TRUNKLINE_API_KEY: apiKey } = env;
  if (url && apiKey) return { url, apiKey };
  const kept = await readLogin(env);
  // A key is told to no server but its own.
  if (url && kept && originOf(url) !== originOf(kept.url))
    throw usageFault(
      `TRUNKLINE_BASE_URL is ${url}, and the key that is kept is one of ${kept.url}.`,
      'Set TRUNKLINE_API_KEY as well, or log in there: trunkline login',
    );
  if (kept) return { url: url || kept.url, apiKey: apiKey || kept.apiKey };
  throw usageFault(
    'Nobody is logged in.',
    'trunkline login, or set TRUNKLINE_BASE_URL and TRUNKLINE_API_KEY in the environment.',
  );
}

/** The server that a URL names, such as `http://localhost:8080`. Throws a usage fault where it names none. */
export function originOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^https?:$/.test(parsed.protocol) && !parsed.username) return parsed.origin;
  throw usageFault(`${url} is no URL of a server.`, 'Give one such as http://localhost:8080.');
}

/** A client of the server. Its requests end once the signal aborts. */
export function connect({ url, apiKey }: Login, signal?: AbortSignal): TrunklineClient {
  if (!signal) return createClient({ baseUrl: url, apiKey });
  return createClient({
    baseUrl: url,
    apiKey,
    fetch: (request, init) => fetch(request, { signal: AbortSignal.any([init.signal, signal]) }),
  });
}
