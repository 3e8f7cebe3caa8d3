import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Person } from '../rules/person.ts';
import { numbersIn, several } from '../rules/words.ts';
import { client, useMay } from '../session.ts';
import { Answer, Asked, Confirmed } from './asked.tsx';

/** What shows whether somebody is to be called is read anew. */
function useTold() {
  const cache = useQueryClient();
  return () => {
    for (const queryKey of [['person'], ['list', 'do-not-call']]) cache.invalidateQueries({ queryKey });
  };
}

const WHAT_FOLLOWS =
  'From then on nothing in this workspace calls: no campaign, batch or workflow. A call that rings is cancelled; one that is up goes on.';

const Why = () => (
  <label className="mt-3 block">
    <span className="label">Why, for whoever asks later</span>
    <input name="reason" maxLength={500} autoComplete="off" className="mt-1 block w-full" />
  </label>
);

const reasonOf = (form: FormData) => {
  const reason = (form.get('reason') as string).trim();
  return reason ? { reason } : {};
};

/** Puts a number on the do-not-call list, or takes it off, for who may. */
export function DoNotCall({ phoneNumber, person }: { phoneNumber: string; person?: Person }) {
  const may = useMay();
  const told = useTold();
  if (!may('do_not_call:write')) return null;
  if (person?.isDoNotCall) {
    // What only a list holds is changed in the list.
    const isOfLists = person.doNotCall?.length && person.doNotCall.every(({ source }) => source === 'list');
    return isOfLists ? null : <TakeOff phoneNumber={phoneNumber} className="button" />;
  }
  const add = async (form: FormData) => {
    const { rejected } = await client.doNotCall.add({ phoneNumbers: [phoneNumber], ...reasonOf(form) });
    if (rejected[0]) throw new Error(rejected[0].error);
    told();
  };
  return (
    <Asked name="Do not call…" title={`Never call ${phoneNumber}?`}>
      {(close) => (
        <Answer does="Never call 1 number" close={close} onDo={add}>
          <p>{WHAT_FOLLOWS}</p>
          <Why />
        </Answer>
      )}
    </Asked>
  );
}

export function TakeOff({ phoneNumber, className }: { phoneNumber: string; className: string }) {
  const told = useTold();
  return (
    <Confirmed
      name="Let it be called again"
      className={className}
      title={`Take ${phoneNumber} off the do-not-call list?`}
      says="Do so only if the person has asked for it. Campaigns that have the number may call it from then on."
      onDo={() => client.doNotCall.remove(phoneNumber).then(told)}
    />
  );
}

/** Puts many numbers on the list, as they were copied from elsewhere. */
export function AddNumbers() {
  const may = useMay();
  if (!may('do_not_call:write')) return null;
  return (
    <Asked name="Add numbers…" title="Numbers that are never to be called" className="button button-signal">
      {(close) => <NumbersForm close={close} />}
    </Asked>
  );
}

function NumbersForm({ close }: { close: () => void }) {
  const told = useTold();
  const [text, setText] = useState('');
  const [rejected, setRejected] = useState<{ index: number; phoneNumber: string; error: string }[]>([]);
  const phoneNumbers = numbersIn(text);
  const add = async (form: FormData) => {
    const country = (form.get('country') as string).trim().toUpperCase();
    const what = { phoneNumbers, ...(country && { defaultCountry: country }), ...reasonOf(form) };
    const { rejected: bad } = await client.doNotCall.add(what);
    told();
    setRejected(bad);
    if (bad.length === 0) return close();
    // The others are on the list; what is left is to be mended.
    setText(bad.map(({ phoneNumber }) => phoneNumber).join('\n'));
  };
  return (
    <Answer
      does={`Never call ${several(phoneNumbers.length, 'number')}`}
      close={close}
      onDo={add}
      onDone={() => undefined}
      isOff={phoneNumbers.length === 0 || phoneNumbers.length > 1000}
    >
      <p>{WHAT_FOLLOWS}</p>
      <label className="mt-3 block">
        <span className="label">One on each line, 1,000 at most</span>
        <textarea
          rows={6}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="mt-1 block w-full font-mono"
          placeholder="+14155550142"
        />
      </label>
      {rejected.length > 0 && (
        <ul className="mt-2 text-signal" role="alert">
          {rejected.map(({ index, phoneNumber, error }) => (
            <li key={index}>
              {phoneNumber}: {error}
            </li>
          ))}
        </ul>
      )}
      <label className="mt-3 block">
        <span className="label">Country of those without +</span>
        <input name="country" pattern="[A-Za-z]{2}" maxLength={2} placeholder="US" className="ms-2 w-16" />
      </label>
      <Why />
    </Answer>
  );
}
