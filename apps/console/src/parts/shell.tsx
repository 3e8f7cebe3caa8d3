import { CSPProvider } from '@base-ui/react/csp-provider';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useLink } from '../link.ts';
import { PLACES } from '../rules/places.ts';
import { signOut, useMay, useSession } from '../session.ts';
import { Fault } from './heading.tsx';
import { StopBar } from './stop-bar.tsx';

const loadPalette = () => import('./palette.tsx');
const Palette = lazy(loadPalette);

/** What is around every screen: the stop bar, the way to all others, and the screen itself. */
export function Shell() {
  const [isAsked, setAsked] = useState(false);
  const [isLoaded, setLoaded] = useState(false);
  useReadAnew();
  const ask = (open: boolean) => {
    if (open) setLoaded(true);
    setAsked(open);
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyped = event.target instanceof Element && event.target.matches('input, select, textarea');
      const isK = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey);
      if (!isK && (event.key !== '/' || isTyped)) return;
      event.preventDefault();
      setLoaded(true);
      setAsked((open) => !open);
    };
    addEventListener('keydown', press);
    // So that it is there when it is first asked for.
    const timer = setTimeout(loadPalette, 1000);
    return () => {
      clearTimeout(timer);
      removeEventListener('keydown', press);
    };
  }, []);
  return (
    <CSPProvider disableStyleElements>
      <a href="#screen" className="absolute -top-20 left-2 z-30 bg-ink px-3 py-1 text-paper focus:top-2">
        To the screen
      </a>
      <StopBar onSearch={() => ask(true)} />
      <div className="lg:grid lg:grid-cols-[184px_minmax(0,1fr)]">
        <Places />
        <main id="screen" tabIndex={-1} className="min-w-0 outline-none">
          <Suspense>
            <Outlet />
          </Suspense>
        </main>
      </div>
      {isLoaded && (
        <Suspense>
          <Palette isOpen={isAsked} onOpenChange={ask} />
        </Suspense>
      )}
    </CSPProvider>
  );
}

/** What was shown, or could not be read, while the server was away is read anew once it is back. */
function useReadAnew() {
  const { returns } = useLink();
  const cache = useQueryClient();
  useEffect(() => {
    if (returns > 0) cache.invalidateQueries();
  }, [returns, cache]);
}

function Places() {
  const may = useMay();
  const { data: session } = useSession();
  const navigate = useNavigate();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => navigate({ to: '/campaigns', search: {} }),
  });
  return (
    <nav
      aria-label="Console"
      className="flex items-baseline gap-x-4 overflow-x-auto border-b border-line px-4 py-2 whitespace-nowrap lg:sticky lg:top-11 lg:block lg:h-[calc(100dvh-44px)] lg:overflow-y-auto lg:border-r lg:border-b-0 lg:py-3"
    >
      <ul className="contents lg:mb-2 lg:block">
        {PLACES.filter(({ permission }) => may(permission)).map(({ path, name }) => (
          <li key={path} className={path === '/lists/contact-lists' ? 'lg:mt-3' : ''}>
            <Link
              to={path as string}
              activeOptions={{ exact: path !== '/calls', includeSearch: false }}
              className="block border-l-0 py-0.5 text-dim hover:text-ink"
              activeProps={{ className: 'font-semibold !text-ink', 'aria-current': 'page' }}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
      {session?.workspaces && (
        <Link to="/workspaces" className="block py-0.5 text-dim hover:text-ink lg:mt-3">
          Other workspace
        </Link>
      )}
      <button
        type="button"
        className="cursor-pointer py-0.5 text-dim hover:text-ink lg:mt-3"
        title={`Signed in as ${session?.apiKeyName ?? session?.memberEmail ?? session?.memberId}`}
        onClick={() => leave.mutate()}
      >
        Sign out
      </button>
      <Fault error={leave.error} />
    </nav>
  );
}
