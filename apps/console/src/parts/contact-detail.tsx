import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Contact, duration, plain, reasonSays, reasonWords } from '../rules/words.ts';
import { client, useMay } from '../session.ts';
import { Confirmed } from './asked.tsx';
import { Fault } from './heading.tsx';
import { When } from './when.tsx';

/** What has come up is read from its beginning. */
const focus = (element: HTMLElement | null) => element?.focus();

/** One contact: why it is as it is, what can be done, and its calls. */
export function ContactDetail({
  campaignId,
  phoneNumber,
  onClose,
}: {
  campaignId: string;
  phoneNumber: string;
  onClose: () => void;
}) {
  const may = useMay();
  const { data: contact, error } = useQuery({
    queryKey: ['contacts', campaignId, 'one', phoneNumber],
    queryFn: async () => {
      const { items } = await client.campaigns.listContacts(campaignId, { searchText: phoneNumber });
      return items.find((each) => each.phoneNumber === phoneNumber) ?? null;
    },
  });
  const { data: calls, error: callsError } = useQuery({
    queryKey: ['campaign-calls', campaignId, contact?.id],
    enabled: Boolean(contact) && may('calls:read'),
    queryFn: () => client.calls.list({ contactId: contact!.id, perPage: 20 }),
  });
  if (contact === undefined) return <Fault error={error} />;
  return (
    <aside
      aria-labelledby="contact"
      className="sticky bottom-0 z-10 max-h-[60vh] overflow-y-auto border-t border-rule bg-raised px-4 py-3"
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <div className="flex items-baseline justify-between gap-4">
        <h3 id="contact" ref={focus} tabIndex={-1} className="text-head break-words">
          {contact?.name ?? phoneNumber} {contact?.name && <span className="text-dim">{phoneNumber}</span>}
        </h3>
        <div className="flex items-baseline gap-4 whitespace-nowrap">
          {contact && <Skip campaignId={campaignId} contact={contact} />}
          {may('contact_lists:read') && (
            <Link to="/people/$phoneNumber" params={{ phoneNumber }} search={{}} className="link">
              The person
            </Link>
          )}
          <button type="button" className="link cursor-pointer" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
      {contact ? <Why contact={contact} /> : <p>This campaign has no such contact.</p>}
      <Fault error={callsError} />
      {calls && calls.items.length > 0 && (
        <ul className="mt-2">
          {calls.items.map((call) => (
            <li key={call.roomId}>
              <Link
                to="/calls/$roomId"
                params={{ roomId: call.roomId }}
                className="cells grid-cols-[24px_108px_minmax(0,1fr)_56px] border-b border-line py-1 hover:bg-night"
              >
                <span className="text-dim">{call.attempt}</span>
                <When at={call.queuedAt} />
                <span className="link">{plain(call.outcome ?? call.status)}</span>
                <span className="text-end">
                  {call.durationSeconds === undefined ? '' : duration(call.durationSeconds)}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </aside>
  );
}

/** Has the campaign never call a contact any more, for who may. */
function Skip({ campaignId, contact: { id, name, phoneNumber, state } }: { campaignId: string; contact: Contact }) {
  const may = useMay();
  const cache = useQueryClient();
  if (!may('campaigns:run') || state === 'done' || state === 'skipped') return null;
  const skip = async () => {
    await client.campaigns.skipContact(campaignId, id);
    for (const key of ['stats', 'contacts']) cache.invalidateQueries({ queryKey: [key, campaignId] });
  };
  return (
    <Confirmed
      name="Skip"
      className="link cursor-pointer"
      title={`Skip ${name ?? phoneNumber}?`}
      says="This campaign never calls this 1 contact any more, and that can’t be taken back. A call that is up goes on. Other campaigns may call the person: the do-not-call list is for all."
      onDo={skip}
    />
  );
}

function Why({ contact }: { contact: Contact }) {
  const { state, reason, nextAttemptAt, variables } = contact;
  const told = Object.entries(variables as Record<string, string>);
  return (
    <>
      <p>
        {plain(state)}
        {reason && `: ${reasonSays(reason)}. ${reasonWords[reason]?.todo ?? ''}`}
        {nextAttemptAt && (
          <>
            {' '}
            Next call at <When at={nextAttemptAt} />.
          </>
        )}
      </p>
      {told.length > 0 && (
        <p className="label mt-1 break-words">{told.map(([name, value]) => `${name}: ${value}`).join(' · ')}</p>
      )}
    </>
  );
}
