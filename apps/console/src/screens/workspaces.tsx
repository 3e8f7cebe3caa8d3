import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Fault, Heading } from '../parts/heading.tsx';
import { goToWorkspace, useSession } from '../session.ts';

/** A member of several workspaces chooses the one to work in. */
export function WorkspacesScreen() {
  const { data: session } = useSession();
  const navigate = useNavigate();
  const go = useMutation({
    mutationFn: async (id: string) => {
      if (id !== session?.workspaceId) await goToWorkspace(id);
    },
    onSuccess: () => navigate({ to: '/campaigns', search: {} }),
  });
  const choices = session?.workspaces ?? [];
  return (
    <>
      <Heading title="Which workspace?" />
      <Fault error={go.error} />
      {choices.length === 0 && (
        <p className="border-t border-line px-4 py-6">
          You are in one workspace only. An admin of another can invite you.
        </p>
      )}
      <ul className="border-t border-rule">
        {choices.map(({ id, name, role }) => (
          <li key={id} className="border-b border-line">
            <button
              type="button"
              className="cells w-full cursor-pointer grid-cols-[minmax(0,1fr)_96px_64px] px-4 py-2 text-start hover:bg-raised"
              disabled={go.isPending}
              onClick={() => go.mutate(id)}
            >
              <span className="link clip">{name}</span>
              <span className="text-dim">{role}</span>
              <span className="text-dim">{id === session?.workspaceId && 'now'}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
