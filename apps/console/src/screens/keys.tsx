import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { components } from '@trunkline/client';
import { type ReactNode, useState } from 'react';
import { Answer, Asked, Confirmed } from '../parts/asked.tsx';
import { Fault, Heading } from '../parts/heading.tsx';
import { Rows } from '../parts/rows.tsx';
import { When } from '../parts/when.tsx';
import { endOfKey, grantable, KEY_DAYS, type Permission } from '../rules/access.ts';
import { plain } from '../rules/words.ts';
import { client, useMay, useSession } from '../session.ts';

type Schemas = components['schemas'];

/** What opens this workspace to programs, and who is signed in with a browser. */
export function KeysScreen() {
  const may = useMay();
  return (
    <>
      <Heading title="Keys and sessions">{may('api_keys:write') && <NewKey />}</Heading>
      <Keys />
      <Sessions />
    </>
  );
}

type Row = { id: string; cells: [string, ReactNode][]; acts: ReactNode };

function useRevoke(queryKey: string) {
  const cache = useQueryClient();
  return () => cache.invalidateQueries({ queryKey: [queryKey] });
}

function Keys() {
  const may = useMay();
  const told = useRevoke('keys');
  const { data, error } = useQuery({
    queryKey: ['keys'],
    queryFn: async () => client.apiKeys.list({ perPage: 100 }),
  });
  const rowOf = (key: Schemas['ApiKey']): Row => ({
    id: key.id,
    cells: [
      ['Name', key.name],
      ['Begins', <code key="prefix">{key.prefix}</code>],
      ['May', key.permissions.includes('*') ? 'everything' : key.permissions.map(plain).join(', ')],
      ['Last used', <When key="used" at={key.lastUsedAt} />],
      ['Ends', key.expiresAt ? <When key="ends" at={key.expiresAt} /> : 'never'],
    ],
    acts: may('api_keys:write') && (
      <Confirmed
        name="Revoke"
        className="link cursor-pointer"
        title={`Revoke the key “${key.name}”?`}
        says="Programs that use it are refused within a second, and who has signed in with it is signed out. It can’t be taken back."
        onDo={() => client.apiKeys.revoke(key.id).then(told)}
      />
    ),
  });
  return (
    <>
      <Fault error={error} />
      {data && data.items.length > 0 && <Rows name="Keys" rows={data.items.map(rowOf)} />}
      {data && data.totalCount > data.items.length && <p className="label px-4 py-2">The newest 100.</p>}
    </>
  );
}

function Sessions() {
  const may = useMay();
  const told = useRevoke('sessions');
  const { data: session } = useSession();
  const { data, error } = useQuery({
    queryKey: ['sessions'],
    refetchInterval: 10_000,
    queryFn: async () => client.sessions.list({ perPage: 100 }),
  });
  const rowOf = (each: Schemas['Session']): Row => ({
    id: each.id,
    cells: [
      [
        'Who',
        `${each.memberEmail ?? each.apiKeyName ?? each.memberId ?? ''}${each.id === session?.id ? ' (you, here)' : ''}`,
      ],
      ['From', each.address],
      ['Since', <When key="since" at={each.createdAt} />],
      ['Last used', <When key="used" at={each.lastUsedAt} />],
      ['Ends', <When key="ends" at={each.expiresAt} />],
    ],
    acts: may('api_keys:write') && each.id !== session?.id && (
      <Confirmed
        name="Sign out"
        className="link cursor-pointer"
        title="Sign this browser out?"
        says={`${each.memberEmail ?? each.apiKeyName ?? 'Whoever it is'} is signed out within a second, and may sign in again.`}
        onDo={() => client.sessions.revoke(each.id).then(told)}
      />
    ),
  });
  return (
    <>
      <h2 className="border-t border-rule px-4 pt-4 pb-2">Signed in with a browser</h2>
      <Fault error={error} />
      {data && data.items.length === 0 && <p className="px-4 pb-4 text-dim">Nobody is signed in with a browser.</p>}
      {data && data.items.length > 0 && <Rows name="Sessions" rows={data.items.map(rowOf)} />}
    </>
  );
}

const NewKey = () => (
  <Asked name="Make a key…" title="A new API key">
    {(close) => <KeyForm close={close} />}
  </Asked>
);

function KeyForm({ close }: { close: () => void }) {
  const [key, setKey] = useState<string>();
  const { data: session } = useSession();
  const told = useRevoke('keys');
  const held = session?.permissions ?? [];
  const make = async (form: FormData) => {
    const permissions = form.getAll('permission') as Permission[];
    if (permissions.length === 0) throw new Error('Choose what the key may do.');
    const expiresAt = endOfKey(Number(form.get('days')), new Date());
    const name = (form.get('name') as string).trim();
    const made = await client.apiKeys.create({ name, permissions, ...(expiresAt && { expiresAt }) });
    setKey(made.key);
    told();
  };
  if (key) return <Made apiKey={key} close={close} />;
  return (
    <Answer does="Make the key" close={close} onDo={make} onDone={() => undefined}>
      <label className="block">
        <span className="label">What it is for</span>
        <input name="name" required maxLength={255} autoComplete="off" className="mt-1 block w-full" />
      </label>
      <label className="mt-3 block">
        <span className="label">It ends</span>
        <select name="days" className="ms-2">
          {KEY_DAYS.map((days) => (
            <option key={days} value={days}>
              {days ? `after ${days} days` : 'never by itself'}
            </option>
          ))}
        </select>
      </label>
      <Permissions held={held} />
    </Answer>
  );
}

function Permissions({ held }: { held: readonly string[] }) {
  const [isAll, setAll] = useState(false);
  return (
    <fieldset className="mt-3">
      <legend className="label">It may</legend>
      {held.includes('*') && (
        <label className="flex items-center gap-2 border-b border-line py-1">
          <input
            type="checkbox"
            name="permission"
            value="*"
            className="min-h-0"
            checked={isAll}
            onChange={(event) => setAll(event.target.checked)}
          />
          <strong>everything</strong>
        </label>
      )}
      {!isAll &&
        grantable(held).map(({ of, permissions }) => (
          <div key={of} className="cells grid-cols-[minmax(0,1fr)_repeat(3,72px)] border-b border-line py-1">
            <span>{plain(of)}</span>
            {permissions.map((each) => (
              <label key={each} className="flex items-center gap-1">
                <input type="checkbox" name="permission" value={each} className="min-h-0" aria-label={plain(each)} />
                {each.split(':')[1]}
              </label>
            ))}
          </div>
        ))}
    </fieldset>
  );
}

/** A key is shown once. */
function Made({ apiKey, close }: { apiKey: string; close: () => void }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(apiKey);
    setCopied(true);
  };
  return (
    <div className="mt-2">
      <p>Keep it now: it is shown this once, and only its beginning is known from then on.</p>
      <code className="mt-3 block border border-line p-2 break-all select-all">{apiKey}</code>
      <div className="mt-4 flex justify-end gap-2">
        <button type="button" className="button" onClick={copy}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
        <button type="button" className="button button-signal" onClick={close}>
          I have kept it
        </button>
      </div>
    </div>
  );
}
