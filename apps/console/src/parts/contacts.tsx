import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type Campaign, type Contact, number, plain, reasonSays, type Stats } from '../rules/words.ts';
import { client } from '../session.ts';
import { ContactDetail } from './contact-detail.tsx';
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
        <ContactDetail
          key={contact}
          campaignId={id}
          phoneNumber={contact}
          onClose={() => look({ contact: undefined })}
        />
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
