import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { components } from '@trunkline/client';
import { Answer, Asked, Confirmed } from '../parts/asked.tsx';
import { Fault, Heading } from '../parts/heading.tsx';
import { Rows } from '../parts/rows.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { When } from '../parts/when.tsx';
import { ROLES, type Role, roleSays } from '../rules/access.ts';
import { plain } from '../rules/words.ts';
import { client, useMay, useSession } from '../session.ts';

type Member = components['schemas']['Member'];

const route = getRouteApi('/members');

/** The people of the workspace: who they are, what they may, and who is invited. */
export function MembersScreen() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const { data, error } = useQuery({
    queryKey: ['members', q],
    placeholderData: (before) => before,
    queryFn: async () => client.members.list({ perPage: 100, ...(q && { searchText: q }) }),
  });
  const items: Member[] = data?.items ?? [];
  const rows = items.map((member) => ({
    id: member.id,
    cells: [
      ['Address', member.email],
      ['Role', member.role],
      ['State', plain(member.status)],
      ['Last signed in', <When key="at" at={member.lastSignedInAt} />],
    ] as [string, React.ReactNode][],
    acts: may('members:write') && <Acts member={member} />,
  }));
  return (
    <>
      <Heading title="Members">
        <SearchField label="Search" value={q} onSearch={(text) => navigate({ search: { q: text }, replace: true })} />
        {may('members:write') && <Invite />}
      </Heading>
      <Fault error={error} />
      {data && rows.length === 0 && (
        <p className="max-w-prose border-t border-line px-4 py-6">
          {q
            ? 'Nobody is like this.'
            : 'There are no members yet, only keys. Invite people by the address that your identity provider knows them by; they sign in without a key.'}
        </p>
      )}
      {rows.length > 0 && <Rows name="Members" rows={rows} />}
      {data && data.totalCount > items.length && items.length > 0 && (
        <p className="label px-4 py-2">The newest 100. The rest is found by a search.</p>
      )}
    </>
  );
}

const Roles = ({ role }: { role?: string }) => (
  <fieldset className="mt-3">
    <legend className="label">Role</legend>
    {ROLES.map((each) => (
      <label key={each} className="flex gap-2 border-b border-line py-1">
        <input
          type="radio"
          name="role"
          value={each}
          required
          className="mt-1 min-h-0 self-start"
          defaultChecked={each === (role ?? 'viewer')}
        />
        <span>
          <strong>{each}</strong> {roleSays(each)}
        </span>
      </label>
    ))}
  </fieldset>
);

const roleOf = (form: FormData) => form.get('role') as Role;

function useTold() {
  const cache = useQueryClient();
  return () => cache.invalidateQueries({ queryKey: ['members'] });
}

function Invite() {
  const told = useTold();
  const invite = (form: FormData) =>
    client.members.create({ email: (form.get('email') as string).trim(), role: roleOf(form) }).then(told);
  return (
    <Asked name="Invite…" title="Invite a member" className="button button-signal">
      {(close) => (
        <Answer does="Invite" close={close} onDo={invite}>
          <p>
            No mail is sent: tell them to go to <code>{`${location.origin}/console`}</code> and sign in as a member.
          </p>
          <label className="mt-3 block">
            <span className="label">Address, as your identity provider has it</span>
            <input
              name="email"
              type="email"
              required
              maxLength={254}
              autoComplete="off"
              className="mt-1 block w-full"
            />
          </label>
          <Roles />
        </Answer>
      )}
    </Asked>
  );
}

function Acts({ member: { id, email, role } }: { member: Member }) {
  const told = useTold();
  const { data: session } = useSession();
  const isMe = session?.memberId === id;
  return (
    <span className="flex justify-end gap-4">
      <Asked name="Change role" title={`What may ${email} do?`} className="link cursor-pointer">
        {(close) => (
          <Answer
            does="Change role"
            close={close}
            onDo={(form) => client.members.update(id, { role: roleOf(form) }).then(told)}
          >
            <p>{isMe && 'This is you. '}It holds within a second, also where they are signed in.</p>
            <Roles role={role} />
          </Answer>
        )}
      </Asked>
      <Confirmed
        name="Remove"
        className="link cursor-pointer"
        title={`Remove ${email}?`}
        says={`${isMe ? 'This is you. ' : ''}They are signed out everywhere, and can’t sign in to this workspace any more. What they have done stays.`}
        onDo={() => client.members.delete(id).then(told)}
      />
    </span>
  );
}
