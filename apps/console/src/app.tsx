import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { router } from './router.tsx';
import { SignIn } from './screens/sign-in.tsx';
import { queries, useSession, wordsOf } from './session.ts';

export const App = () => (
  <QueryClientProvider client={queries}>
    <Door />
  </QueryClientProvider>
);

/** Who isn't signed in sees the way in, and stays at the address that they came for. */
function Door() {
  const { data: session, isPending, error } = useSession();
  if (isPending) return null;
  return session ? <RouterProvider router={router} /> : <SignIn fault={error ? wordsOf(error) : undefined} />;
}
