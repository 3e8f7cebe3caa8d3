import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { components } from '@trunkline/client';
import type { ReactNode } from 'react';
import { AddNumbers, TakeOff } from '../parts/do-not-call.tsx';
import { Fault, Heading } from '../parts/heading.tsx';
import { TestCall, TrunkActs } from '../parts/lines.tsx';
import { type Cells, Rows } from '../parts/rows.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { When } from '../parts/when.tsx';
import { PLACES } from '../rules/places.ts';
import { number, plain, several } from '../rules/words.ts';
import { client, useMay } from '../session.ts';

const route = getRouteApi('/lists/$kind');

interface Kind {
  load: (query: { perPage: number; searchText?: string }) => Promise<{ items: object[]; totalCount?: number }>;
  /** What an entry is known by. */
  idOf: (item: never) => string;
  cells: (item: never) => Cells;
  /** What an empty list teaches. */
  empty: string;
  /** What can be done with an entry. */
  acts?: ((item: never) => ReactNode) | undefined;
}

/** What a listing needs: how it is read, what of an entry is shown, and what is said where there is none. */
const kind = <Item extends { id: string } | components['schemas']['DoNotCallEntry']>(
  load: (query: { perPage: number; searchText?: string }) => PromiseLike<{ items: Item[]; totalCount?: number }>,
  cells: (item: Item) => Cells,
  empty: string,
  acts?: (item: Item) => ReactNode,
): Kind => ({
  load: async (query) => load(query),
  idOf: (item: Item) => ('id' in item ? item.id : `${item.phoneNumber} ${item.contactListId ?? item.source}`),
  cells,
  empty,
  acts,
});

const KINDS: Record<string, Kind> = {
  'contact-lists': kind(
    (query) => client.contactLists.list(query),
    (each) => [
      ['Name', each.name],
      ['State', each.status],
      ['For', each.type],
      ['Entries', number(each.totalEntries)],
      ['Made', <When key="at" at={each.createdAt} />],
    ],
    'There is no contact list yet. trunkline lists upload FILE makes one of a spreadsheet.',
  ),
  'do-not-call': kind(
    (query) => client.doNotCall.list(query),
    (each) => [
      ['Number', <PersonLink key="number" phoneNumber={each.phoneNumber} />],
      ['From', each.source === 'opt_out' ? 'opted out' : 'a list'],
      ['Why', each.reason],
      ['Since', <When key="at" at={each.createdAt} />],
    ],
    'Nobody has opted out yet. Numbers come here when a person asks for it in a call, or by a list of the type dnd.',
    (each) => each.source === 'opt_out' && <TakeOffEntry phoneNumber={each.phoneNumber} />,
  ),
  agents: kind(
    (query) => client.agents.list(query),
    (each) => [
      [
        'Name',
        <Link key="name" to="/agents/$agentId" params={{ agentId: each.id }} className="link">
          {each.name}
        </Link>,
      ],
      ['Kind', each.connection.type],
      [
        'State',
        each.failing ? (
          <strong key="state" className="text-signal">
            fails: {plain(each.failing.reason)}
          </strong>
        ) : (
          'no fault known'
        ),
      ],
      ['At once', each.maxConcurrentCalls === undefined ? 'no limit' : several(each.maxConcurrentCalls, 'call')],
      ['Changed', <When key="at" at={each.updatedAt} />],
    ],
    'There is no agent yet. An agent is who speaks in a call; the guide of agents shows how one is made.',
  ),
  'phone-numbers': kind(
    (query) => client.phoneNumbers.list(query),
    (each) => [
      ['Number', each.phoneNumber],
      ['Name', each.friendlyName ?? each.label],
      ['State', plain(each.status)],
      ['Calls out', each.isOutboundReady ? 'ready' : plain(each.outboundReason ?? 'no')],
      ['Takes calls', each.isInboundReady ? 'ready' : 'no'],
      ['From', each.provider],
    ],
    'There is no number to call from yet. Buy one, or import one of a trunk.',
    (each) => <TestCall phone={each} />,
  ),
  'number-pools': kind(
    (query) => client.numberPools.list(query),
    (each) => [
      ['Name', each.name],
      ['Numbers', number(each.count)],
      ['Changed', <When key="at" at={each.updatedAt} />],
    ],
    'There is no pool yet. A campaign can call from the numbers of a pool in rotation.',
  ),
  trunks: kind(
    (query) => client.trunks.list(query),
    (each) => [
      ['Address', each.terminationUrl],
      [
        'State',
        each.status === 'active' ? (
          'active'
        ) : (
          <strong key="state" className="text-signal">
            {each.status}
          </strong>
        ),
      ],
      ['Why', each.message],
      ['Since', <When key="at" at={each.statusSince} />],
      ['Calls', number(each.liveCalls)],
      ['Numbers', number(each.phoneNumberCount)],
    ],
    'There is no trunk yet. A trunk is the line to a carrier or a PBX over SIP.',
    (each) => <TrunkActs trunk={each} />,
  ),
  workflows: kind(
    (query) => client.workflows.list(query),
    (each) => [
      ['Name', each.name],
      ['State', plain(each.status)],
      ['Changed', <When key="at" at={each.updatedAt} />],
    ],
    'There is no workflow yet. A workflow calls, waits and decides after an event in your system.',
  ),
  'knowledge-bases': kind(
    (query) => client.knowledgeBases.list(query),
    (each) => [
      ['Name', each.name],
      ['State', plain(each.status)],
      ['Documents', number(each.documentCount)],
      ['Changed', <When key="at" at={each.updatedAt} />],
    ],
    'There is no knowledge base yet. It holds documents in which agents look things up.',
  ),
  webhooks: kind(
    (query) => client.webhooks.list(query),
    (each) => [
      ['Address', each.url],
      ['Events', each.eventTypes.join(', ')],
      ['Changed', <When key="at" at={each.updatedAt} />],
    ],
    'There is no webhook yet. It tells your system what happens here.',
  ),
  'audit-log': kind(
    (query) => client.auditLog.list(query),
    (each) => [
      ['When', <When key="at" at={each.createdAt} />],
      ['Who', each.memberEmail ?? each.memberId ?? each.apiKeyName ?? 'the agent of a call'],
      ['What', plain(each.action)],
      ['Of', <code key="id">{each.resourceId}</code>],
      ['From', each.address],
    ],
    'Nothing was changed yet.',
  ),
};

function PersonLink({ phoneNumber }: { phoneNumber: string }) {
  const may = useMay();
  if (!may('contact_lists:read')) return phoneNumber;
  return (
    <Link to="/people/$phoneNumber" params={{ phoneNumber }} search={{}} className="link">
      {phoneNumber}
    </Link>
  );
}

function TakeOffEntry({ phoneNumber }: { phoneNumber: string }) {
  const may = useMay();
  return may('do_not_call:write') ? <TakeOff phoneNumber={phoneNumber} className="link cursor-pointer" /> : null;
}

/** The rest, to be read: the newest hundred, and what a search finds. */
export function ListsScreen() {
  const { kind } = route.useParams();
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const shown = KINDS[kind];
  const { data, error } = useQuery({
    queryKey: ['list', kind, q],
    enabled: shown !== undefined,
    placeholderData: (before, query) => (query?.queryKey[1] === kind ? before : undefined),
    queryFn: () => shown!.load({ perPage: 100, ...(q && { searchText: q }) }),
  });
  const title = PLACES.find(({ path }) => path === `/lists/${kind}`)?.name ?? 'No such list';
  const rows = (data?.items ?? []).map((item) => ({
    id: shown!.idOf(item as never),
    cells: shown!.cells(item as never),
    acts: shown!.acts?.(item as never),
  }));
  return (
    <>
      <Heading title={title}>
        {kind === 'do-not-call' && <AddNumbers />}
        {shown && (
          <SearchField
            key={kind}
            label="Search"
            value={q}
            onSearch={(text) => navigate({ search: { q: text }, replace: true })}
          />
        )}
      </Heading>
      <Fault error={error} />
      {data && rows.length === 0 && (
        <p className="max-w-prose border-t border-line px-4 py-6">{q ? 'Nothing is like this.' : shown!.empty}</p>
      )}
      {rows.length > 0 && <Rows name={title} rows={rows} />}
      {data && rows.length === 100 && <p className="label px-4 py-2">The newest 100. The rest is found by a search.</p>}
    </>
  );
}
