import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { CallReport } from '../parts/call-report.tsx';
import type { ContactList } from '../rules/files.ts';
import { typedNumber } from '../rules/typed-number.ts';
import type { Campaign } from '../rules/words.ts';
import { client } from '../session.ts';
import { GoOn, Wrong } from './step.tsx';

/** Nobody's own phone rings later than this: a call that can't be placed now is given up. */
const GIVE_UP_MS = 2 * 60_000;
const LONGEST_SECONDS = 300;
const popup =
  'fixed top-[20vh] left-1/2 z-40 w-[min(92vw,480px)] -translate-x-1/2 border border-rule bg-raised p-4 outline-none';

type Kind = 'agent' | 'echo';

interface CallStepProps {
  list: ContactList;
  draft: Campaign;
  /** The call that was made here last. */
  roomId: string | undefined;
}

/** One's own phone rings before anybody else's does. */
export function CallStep({ list, draft, roomId }: CallStepProps) {
  const [typed, setTyped] = useState('');
  const [kind, setKind] = useState<Kind>('agent');
  const [asked, setAsked] = useState<{ toNumber: string; key: string }>();
  const from = useCaller(draft);
  const call = useTestCall(list.id, draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const toNumber = typedNumber(typed);
    setAsked({ toNumber, key: crypto.randomUUID() });
  };
  return (
    <>
      <p className="max-w-prose">
        Ring your own phone, as those will be rung who are called. It is one call, which costs what a call costs, and is
        not counted as one of the campaign. You may leave this out.
      </p>
      <form onSubmit={submit} className="mt-3 grid gap-3">
        <fieldset>
          <legend className="label">Who speaks</legend>
          {(
            [
              ['agent', 'The agent, as in a call of the campaign'],
              ['echo', 'A sentence, and then an echo of what you say: whether the line works'],
            ] as const
          ).map(([value, says]) => (
            <label key={value} className="flex cursor-pointer items-center gap-2 py-0.5">
              <input
                type="radio"
                name="kind"
                className="min-h-0 accent-signal"
                checked={kind === value}
                onChange={() => setKind(value)}
              />
              {says}
            </label>
          ))}
        </fieldset>
        <label className="block">
          <span className="label block">Your phone, with + and its country</span>
          <input
            type="tel"
            required
            autoComplete="tel"
            placeholder="+1 415 555 0142"
            pattern="\s*(\+|00)[0-9\s\(\)\.\/\-]{6,24}"
            title="A number with + and its country, such as +1 415 555 0142"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        <p>
          <button type="submit" className="button" disabled={call.isPending || !from}>
            Ring my phone…
          </button>
        </p>
      </form>
      <Wrong error={call.error} />
      {roomId && <CallReport roomId={roomId} />}
      <GoOn from="call" listId={list.id}>
        {roomId ? 'Go on to the dry run' : 'Go on without it'}
      </GoOn>
      <AlertDialog.Root open={asked !== undefined} onOpenChange={() => setAsked(undefined)}>
        <AlertDialog.Portal>
          <AlertDialog.Backdrop className="fixed inset-0 z-30 bg-ink opacity-30" />
          <AlertDialog.Popup className={popup}>
            <AlertDialog.Title className="text-head">Ring {asked?.toNumber}?</AlertDialog.Title>
            <AlertDialog.Description className="mt-2">
              One call from {from?.phoneNumber}, at what it costs there
              {kind === 'agent' ? ', and what the agent costs; five minutes at most.' : '; a minute at most.'}
              {from?.provider === 'simulator' && ' This number is simulated: no telephone rings.'}
            </AlertDialog.Description>
            <div className="mt-4 flex justify-end gap-2">
              <AlertDialog.Close className="button">Leave it</AlertDialog.Close>
              <AlertDialog.Close
                className="button button-signal"
                onClick={() => asked && from && call.mutate({ ...asked, kind, from })}
              >
                Ring it
              </AlertDialog.Close>
            </div>
          </AlertDialog.Popup>
        </AlertDialog.Portal>
      </AlertDialog.Root>
    </>
  );
}

interface Caller {
  id: string;
  phoneNumber: string;
  provider: string;
}

/** The number that calls: the campaign's, or the first of its pool. */
function useCaller({ fromNumber, numberPoolId }: Campaign): Caller | undefined {
  const { data } = useQuery({
    queryKey: ['caller', fromNumber ?? numberPoolId],
    queryFn: async () => {
      const { items } = numberPoolId
        ? await client.numberPools.listMembers(numberPoolId)
        : await client.phoneNumbers.list({ searchText: fromNumber! });
      const found: Caller | undefined = items.find((each) => each.status === 'active') ?? items[0];
      return found ?? null;
    },
  });
  return data ?? undefined;
}

interface Asked {
  toNumber: string;
  key: string;
  kind: Kind;
  from: Caller;
}

function useTestCall(listId: string, { agentId }: Campaign) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async ({ toNumber, key, kind, from }: Asked) => {
      const idempotencyKey = `console ${key}`;
      const { roomId } =
        kind === 'echo'
          ? await client.phoneNumbers.startTestCall(from.id, { toNumber }, { idempotencyKey })
          : await client.calls.create(
              {
                ...{ agentId, fromNumber: from.phoneNumber, toNumber, maxCallSeconds: LONGEST_SECONDS },
                expiresAt: new Date(Date.now() + GIVE_UP_MS).toISOString(),
              },
              { idempotencyKey },
            );
      await navigate({
        to: '/campaigns/new/$contactListId',
        params: { contactListId: listId },
        search: { step: 'call', call: roomId },
        replace: true,
      });
    },
  });
}
