import { type FormEvent, useEffect, useState } from 'react';
import { DayRail } from '../parts/day-rail.tsx';
import { leaveForProvider, signIn, signInByProvider, wordsOf } from '../session.ts';

/** Where the identity provider sends the browser back to. */
const BACK = '/console/sign-in';

/** The way in: by an identity provider, or by an API key, which is exchanged for a cookie and then forgotten. */
export function SignIn({ fault }: { fault?: string | undefined }) {
  const [said, setSaid] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const enter = async (signingIn: Promise<void>) => {
    setBusy(true);
    await signingIn.catch((error) => setSaid(wordsOf(error)));
    setBusy(false);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget).get('key') as string;
    return enter(signIn(key.trim()));
  };
  useEffect(() => {
    if (location.pathname !== BACK || !location.search) return;
    signInByProvider(new URLSearchParams(location.search)).catch((error) => setSaid(wordsOf(error)));
  }, []);
  return (
    <main className="mx-auto flex min-h-dvh max-w-xl flex-col justify-center px-5 py-10">
      <h1 className="text-figure">Trunkline</h1>
      <p className="mt-1 mb-8 text-dim">The desk for campaigns: who is called now, who is not yet and why.</p>
      <DayRail title="Now, by your clock" timezones={[Intl.DateTimeFormat().resolvedOptions().timeZone]} />
      <p className="mt-8">
        <button
          type="button"
          className="button button-signal"
          disabled={isBusy}
          onClick={() => enter(leaveForProvider())}
        >
          Sign in as a member
        </button>
      </p>
      <form onSubmit={submit} className="mt-8">
        <label htmlFor="key" className="label block">
          API key
        </label>
        <div className="mt-1 flex gap-2">
          <input
            id="key"
            name="key"
            type="password"
            required
            autoComplete="off"
            spellCheck={false}
            placeholder="tl_live_…"
            className="min-w-0 flex-1 font-mono"
            aria-describedby="key-more"
          />
          <button type="submit" className="button" disabled={isBusy}>
            Sign in
          </button>
        </div>
        <p id="key-more" className="label mt-2">
          The server shows the first key at its first start; <code>trunkline-server keys create</code> makes more. The
          page keeps no key: it is exchanged for a session that ends by itself.
        </p>
        <p role="alert" className="mt-3 text-signal">
          {said ?? fault}
        </p>
      </form>
    </main>
  );
}
