import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import {
  type Campaign,
  type Contact,
  duration,
  number,
  plain,
  reasonSays,
  reasonWords,
  type Stats,
} from '../rules/words.ts';
import { client, useMay } from '../session.ts';
import { Fault } from './heading.tsx';
import { type ColumnOf, PagedTable } from './paged-table.tsx';
import { SearchField } from './search-field.tsx';
import { When } from './when.tsx';

const route = getRouteApi('/campaigns/$campaignId');
const STATES = ['pending', 'waiting', 'dialing', 'done', 'skipped'] as const;

/** Every contact, its state and why it isn't called; one of them with its calls. What is looked for stands in the address. */
export function Contacts({ campaign, stats }: { campaign: Campaign; stats: Stats }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { state, reason, q, contact } = search;
  const { id } = campaign;
  const filters = useMemo(
    () => ({
      ...(state && { state: state as 'done' }),
      ...(reason && { reason: reason as 'holiday' }),
      ...(q && { searchText: q }),
    }),
    [state, reason, q],
  );
  const total = useTotal(id, stats, filters);
  const columns = useMemo(() => columnsOf(id), [id]);
  const look = (change: typeof search) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false });
  const reasons = Object.keys({ ...stats.reasons?.notYet, ...stats.reasons?.never, ...(reason && { [reason]: 1 }) });
  return (
    <section aria-labelledby="contacts" className="border-t border-rule">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-2">
        <h2 id="contacts" className="scroll-mt-14">
          Contacts <span className="font-normal text-dim">{total === undefined ? '' : number(total)}</span>
        </h2>
        <Choice
          name="State"
          value={state}
          options={[...STATES]}
          says={plain}
          onChange={(value) => look({ state: value })}
        />
        <Choice
          name="Why"
          value={reason}
          options={reasons}
          says={reasonSays}
          onChange={(value) => look({ reason: value })}
        />
        <SearchField label="Name or number" value={q} onSearch={(text) => look({ q: text })} />
      </div>
      {total !== undefined && (
        <PagedTable
          name="Contacts"
          queryKey={['contacts', id, filters]}
          load={(page, perPage) => client.campaigns.listContacts(id, { ...filters, page, perPage, order: 'asc' })}
          total={total}
          columns={columns}
          keyOf={(each: Contact) => each.phoneNumber}
          current={contact}
          whenEmpty={
            campaign.status === 'draft'
              ? 'A draft has no contacts yet: they are taken from its lists at the start.'
              : 'No contact is like this. Take a filter away to see more.'
          }
        />
      )}
      {contact && (
        <Detail key={contact} campaignId={id} phoneNumber={contact} onClose={() => look({ contact: undefined })} />
      )}
    </section>
  );
}

interface ChoiceProps {
  name: string;
  value: string | undefined;
  options: string[];
  says: (option: string) => string;
  onChange: (value: string | undefined) => void;
}

const Choice = ({ name, value, options, says, onChange }: ChoiceProps) => (
  <label className="flex items-center gap-2">
    <span className="label">{name}</span>
    <select className="max-w-56" value={value ?? ''} onChange={(event) => onChange(event.target.value || undefined)}>
      <option value="">all</option>
      {options.map((each) => (
        <option key={each} value={each}>
          {says(each)}
        </option>
      ))}
    </select>
  </label>
);

type Filters = { state?: 'done'; reason?: 'holiday'; searchText?: string };

/** How many contacts the filters leave: told by the figures where it can be, else counted. */
function useTotal(id: string, stats: Stats, { state, reason, searchText }: Filters): number | undefined {
  const isCounted = Boolean(searchText || (state && reason));
  const { data } = useQuery({
    queryKey: ['contacts', id, 'total', state, reason, searchText],
    enabled: isCounted,
    queryFn: async () => {
      const filters = { ...(state && { state }), ...(reason && { reason }), ...(searchText && { searchText }) };
      return (await client.campaigns.listContacts(id, { ...filters, perPage: 1, includeTotal: true })).totalCount;
    },
  });
  if (isCounted) return data;
  if (state) return stats[state];
  if (!reason) return stats.totalContacts;
  const { notYet, never } = stats.reasons ?? {};
  return ((notYet as Record<string, number>)?.[reason] ?? 0) + ((never as Record<string, number>)?.[reason] ?? 0);
}

const columnsOf = (campaignId: string): ColumnOf<Contact>[] => [
  {
    head: 'Number',
    width: '148px',
    cell: ({ phoneNumber }) => (
      <Link
        to="/campaigns/$campaignId"
        params={{ campaignId }}
        search={(before: object) => ({ ...before, contact: phoneNumber })}
        resetScroll={false}
        className="link"
      >
        {phoneNumber}
      </Link>
    ),
  },
  { head: 'Name', width: 'minmax(0,3fr)', cell: ({ name }) => name ?? <span className="text-dim">–</span> },
  {
    head: 'State',
    width: '72px',
    cell: ({ state }) => <span className={state === 'dialing' ? 'font-semibold text-signal' : ''}>{plain(state)}</span>,
  },
  { head: 'Why', width: 'minmax(0,3fr)', cell: ({ reason }) => (reason ? reasonSays(reason) : ''), isOptional: true },
  { head: 'Calls', width: '48px', cell: ({ attempts }) => number(attempts), isFigure: true, isOptional: true },
  {
    head: 'Last call',
    width: '108px',
    cell: ({ lastOutcome }) => (lastOutcome ? plain(lastOutcome) : <span className="text-dim">–</span>),
    isOptional: true,
  },
  { head: 'Next call', width: '108px', cell: ({ nextAttemptAt }) => <When at={nextAttemptAt} />, isOptional: true },
];

/** What has come up is read from its beginning. */
const focus = (element: HTMLElement | null) => element?.focus();

/** One contact: why it is as it is, what can be done, and its calls. */
function Detail({
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
        <button type="button" className="link cursor-pointer" onClick={onClose}>
          Close
        </button>
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
