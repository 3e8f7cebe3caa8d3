import { QueryCache, QueryClient, useQuery } from '@tanstack/react-query';
import { ConnectionError, createClient, ServerError, type TrunklineClient, UnauthorizedError } from '@trunkline/client';
import { serverLost, watchedFetch } from './link.ts';
import { allows } from './rules/words.ts';

/** The client. The browser's cookie says who asks, which no script can read: a key stands nowhere in the page. */
export const client: TrunklineClient = createClient({
  baseUrl: location.origin,
  apiKey: null,
  maxRetries: 1,
  timeoutMs: 15_000,
  fetch: watchedFetch,
});

const hasEnded = (error: unknown) => error instanceof UnauthorizedError;

const isAway = (error: unknown) =>
  error instanceof ConnectionError || (error instanceof ServerError && [502, 503, 504].includes(error.status));

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { meta }) => {
      // A search that finds no room, or no end, is refused by a server that is there.
      if (isAway(error) && !meta?.['mayBeBusy']) serverLost();
      // The session has ended: the page asks who is there, and finds nobody.
      if (hasEnded(error)) become(null);
    },
  }),
  defaultOptions: {
    queries: { retry: false, networkMode: 'always', staleTime: 1000, refetchOnWindowFocus: true },
    mutations: { networkMode: 'always' },
  },
});

const sessionKey = ['session'];
const isOfWhoReads = ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== sessionKey[0];
type Session = Awaited<ReturnType<typeof client.sessions.getCurrent>>;

/** Who is signed in, and what they may do: nothing until it is known, `null` if nobody is. */
export const useSession = () =>
  useQuery({
    queryKey: sessionKey,
    staleTime: Number.POSITIVE_INFINITY,
    // What they may do may have changed meanwhile, or who they are, in another window.
    refetchOnWindowFocus: 'always',
    retry: 3,
    queryFn: async () => {
      const now = await client.sessions.getCurrent().catch((error) => {
        if (hasEnded(error)) return null;
        throw error;
      });
      const before = queries.getQueryData<Session | null>(sessionKey);
      // Somebody else has signed in, in another window.
      if (now && before && now.id !== before.id) queries.resetQueries({ predicate: isOfWhoReads });
      return now;
    },
  });

/** Signs in. Rejects with the server's words. */
export async function signIn(apiKey: string): Promise<void> {
  become(await client.sessions.create({ apiKey }));
}

/** Begins a sign-in: the browser goes to the identity provider. Rejects with the server's words. */
export async function leaveForProvider(): Promise<void> {
  const { url } = await client.sessions.startSignIn();
  location.assign(url);
}

/** Ends a sign-in with what the identity provider has sent the browser back with. Rejects with why it can't be. */
export async function signInByProvider(sentBack: URLSearchParams): Promise<void> {
  const { code = '', state = '', iss, error } = Object.fromEntries(sentBack);
  // Whoever makes a link can write into it: of its texts only the codes of RFC 6749 are shown.
  if (error) throw new Error(`The identity provider refused it: ${/^[a-z_]+$/.test(error) ? error : 'an error'}.`);
  become(await client.sessions.create({ code, state, ...(iss && { iss }) }));
}

/** Whether who has signed in is a member of several workspaces. */
export const isOfSeveral = () => (queries.getQueryData<Session | null>(sessionKey)?.workspaces?.length ?? 0) > 1;

/** Goes to another workspace of the member who is signed in. Rejects with the server's words. */
export async function goToWorkspace(workspaceId: string): Promise<void> {
  become(await client.sessions.create({ workspaceId }));
}

export async function signOut(): Promise<void> {
  await client.sessions.endCurrent().catch((error) => {
    if (!hasEnded(error)) throw error;
  });
  become(null);
}

/** Forgets all that was read for whoever was there before. */
function become(session: Session | null): void {
  queries.removeQueries({ predicate: isOfWhoReads });
  queries.setQueryData(sessionKey, session);
}

/** Whether who is signed in may do something. What they may not isn't shown. */
export function useMay(): (permission: string) => boolean {
  const { data } = useSession();
  return (permission) => allows(data?.permissions ?? [], permission);
}

/** What went wrong, in the server's words. */
export const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
