import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { components } from '@trunkline/client';
import { useState } from 'react';
import { typedNumber } from '../rules/typed-number.ts';
import { client, useMay, wordsOf } from '../session.ts';
import { Answer, Asked, Confirmed } from './asked.tsx';
import { CallReport } from './call-report.tsx';

type Schemas = components['schemas'];

/** What can be done with a trunk: ask it now, stop and let go on the calls over it. */
export function TrunkActs({ trunk }: { trunk: Schemas['Trunk'] }) {
  const may = useMay();
  const cache = useQueryClient();
  const { id, terminationUrl, status, liveCalls, phoneNumberCount } = trunk;
  const told = () => cache.invalidateQueries({ queryKey: ['list', 'trunks'] });
  const check = useMutation({ mutationFn: () => client.trunks.validate(id) });
  return (
    <span className="flex flex-wrap justify-end gap-x-4">
      <span role="status" className="max-w-96 text-start whitespace-normal">
        {check.error ? wordsOf(check.error) : check.data && checkSays(check.data)}
      </span>
      <button type="button" className="link cursor-pointer" disabled={check.isPending} onClick={() => check.mutate()}>
        {check.isPending ? 'Asking it …' : 'Ask it now'}
      </button>
      {may('phone_numbers:write') &&
        (status === 'paused' ? (
          <Confirmed
            name="Resume"
            className="link cursor-pointer"
            title={`Place calls over ${terminationUrl} again?`}
            says={`It is asked first. Calls go out over it again, from ${phoneNumberCount} numbers.`}
            onDo={() => client.trunks.resume(id).then(told)}
          />
        ) : (
          <Confirmed
            name="Pause"
            className="link cursor-pointer"
            title={`Place no call over ${terminationUrl} any more?`}
            says={`No call is placed from its ${phoneNumberCount} numbers until it is resumed. ${liveCalls} that are up go on.`}
            onDo={() => client.trunks.pause(id).then(told)}
          />
        ))}
    </span>
  );
}

function checkSays({ valid, reachable, credentials, rttMs, message }: Schemas['TrunkCheck']): string {
  if (!valid) return message ?? (reachable ? 'It answers, and refuses.' : 'It does not answer.');
  const account = credentials === 'verified' ? ', and takes the password' : '';
  return `It answers${rttMs === undefined ? '' : ` in ${rttMs} ms`}${account}.`;
}

/** Rings one's own phone from a number, and says what was found. */
export function TestCall({ phone }: { phone: Schemas['PhoneNumber'] }) {
  const may = useMay();
  if (!may('calls:write') || !may('calls:read') || phone.status !== 'active') return null;
  return (
    <Asked name="Test call…" className="link cursor-pointer" title={`Ring your own phone from ${phone.phoneNumber}`}>
      {(close) => <TestCallForm phone={phone} close={close} />}
    </Asked>
  );
}

function TestCallForm({ phone, close }: { phone: Schemas['PhoneNumber']; close: () => void }) {
  const [roomId, setRoomId] = useState<string>();
  const [visit] = useState(() => crypto.randomUUID());
  const ring = async (form: FormData) => {
    const toNumber = typedNumber(form.get('to') as string);
    // If the answer is lost, who asks again is not rung twice.
    const idempotencyKey = `console ${visit} ${toNumber}`;
    setRoomId((await client.phoneNumbers.startTestCall(phone.id, { toNumber }, { idempotencyKey })).roomId);
  };
  if (roomId)
    return (
      <>
        <CallReport roomId={roomId} />
        <button type="button" className="button mt-4" onClick={close}>
          Close
        </button>
      </>
    );
  return (
    <Answer does="Ring 1 phone" close={close} onDo={ring} onDone={() => undefined}>
      <p>
        It is one call, a minute at most, and costs what a call costs. It says a sentence, and then says back what it
        hears.
        {phone.provider === 'simulator' && ' This number is simulated: no telephone rings.'}
      </p>
      <label className="mt-3 block">
        <span className="label">Your phone, with + and its country</span>
        <input
          name="to"
          type="tel"
          required
          pattern="\s*(\+|00)[0-9\s().\/\-]{6,24}"
          autoComplete="tel"
          className="mt-1 block w-full"
        />
      </label>
    </Answer>
  );
}
