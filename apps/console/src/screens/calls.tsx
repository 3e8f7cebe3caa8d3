import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Fault, Heading } from '../parts/heading.tsx';
import { type ColumnOf, PagedTable } from '../parts/paged-table.tsx';
import { When } from '../parts/when.tsx';
import { type Call, duration, number, OUTCOMES, plain, short } from '../rules/words.ts';
import { client } from '../session.ts';

const route = getRouteApi('/calls');
const REFETCH_MS = 10_000;
const STATUSES = ['queued', 'dialing', 'ringing', 'in_progress', 'completed', 'failed', 'cancelled'];

/** All calls, newest first. What is looked for stands in the address. */
export function CallsScreen() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const key = JSON.stringify(search);
  const filters = useMemo(() => JSON.parse(key) as object, [key]);
  const { data: total, error } = useQuery({
    queryKey: ['calls', filters, 'total'],
    refetchInterval: REFETCH_MS,
    queryFn: async () => (await client.calls.list({ ...filters, perPage: 1, includeTotal: true })).totalCount ?? 0,
  });
  const look = (name: string, value: string) =>
    navigate({ search: { ...search, [name]: value || undefined }, replace: true });
  return (
    <>
      <Heading title="Calls" />
      <form
        className="flex flex-wrap items-center gap-x-4 gap-y-2 border-y border-line px-4 py-2"
        onSubmit={(event) => event.preventDefault()}
      >
        <span>{total === undefined ? '' : number(total)}</span>
        <Choice name="Outcome" value={search.outcome} options={OUTCOMES} onChange={(value) => look('outcome', value)} />
        <Choice name="State" value={search.status} options={STATUSES} onChange={(value) => look('status', value)} />
        <Choice
          name="Direction"
          value={search.direction}
          options={['outbound', 'inbound']}
          onChange={(value) => look('direction', value)}
        />
        <label className="flex items-center gap-2">
          <span className="label">Number</span>
          <input
            key={search.phoneNumber}
            type="search"
            className="w-40"
            placeholder="+14155550100"
            defaultValue={search.phoneNumber}
            onBlur={(event) => look('phoneNumber', event.target.value.replace(/[\s().-]/g, ''))}
            onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
          />
        </label>
        {search.campaignId && (
          <span className="label">
            of campaign{' '}
            <Link to="/campaigns/$campaignId" params={{ campaignId: search.campaignId }} search={{}} className="link">
              {short(search.campaignId)}
            </Link>
          </span>
        )}
      </form>
      <Fault error={error} />
      {total !== undefined && (
        <PagedTable
          name="Calls"
          queryKey={['calls', filters, total]}
          load={(page, perPage) => client.calls.list({ ...filters, page, perPage })}
          total={total}
          refetchMs={REFETCH_MS}
          columns={columns}
          keyOf={(each: Call) => each.roomId}
          whenEmpty="No call is like this. Take a filter away to see more; a campaign that is started makes the first ones."
        />
      )}
    </>
  );
}

interface ChoiceProps {
  name: string;
  value: string | undefined;
  options: readonly string[];
  onChange: (value: string) => void;
}

const Choice = ({ name, value, options, onChange }: ChoiceProps) => (
  <label className="flex items-center gap-2">
    <span className="label">{name}</span>
    <select value={value ?? ''} onChange={(event) => onChange(event.target.value)}>
      <option value="">all</option>
      {options.map((each) => (
        <option key={each} value={each}>
          {plain(each)}
        </option>
      ))}
    </select>
  </label>
);

const UP = ['dialing', 'ringing', 'in_progress'];

const columns: ColumnOf<Call>[] = [
  {
    head: 'Number',
    width: '124px',
    cell: ({ roomId, toNumber }) => (
      <Link to="/calls/$roomId" params={{ roomId }} className="link">
        {toNumber}
      </Link>
    ),
  },
  { head: 'When', width: '96px', cell: ({ queuedAt }) => <When at={queuedAt} /> },
  {
    head: 'How it ended',
    width: 'minmax(80px,2fr)',
    cell: ({ outcome, status }) => (
      <span className={UP.includes(status) ? 'font-semibold text-signal' : ''}>{plain(outcome ?? status)}</span>
    ),
  },
  {
    head: 'Talk',
    width: '64px',
    isFigure: true,
    isOptional: true,
    cell: ({ durationSeconds }) => (durationSeconds === undefined ? '' : duration(durationSeconds)),
  },
  {
    head: 'Ended by',
    width: 'minmax(0,1fr)',
    isOptional: true,
    cell: ({ endedBy }) => (endedBy ? plain(endedBy) : ''),
  },
  { head: 'Agent', width: 'minmax(0,2fr)', isOptional: true, cell: ({ agentId }) => agentId ?? '' },
  { head: 'From', width: '132px', isOptional: true, cell: ({ fromNumber }) => fromNumber ?? '' },
  { head: 'SIP', width: '48px', isOptional: true, cell: ({ sipStatus }) => sipStatus ?? '' },
];
