import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useWorkspace } from '../live.tsx';
import { DayRail } from '../parts/day-rail.tsx';
import { Fault, Heading } from '../parts/heading.tsx';
import { SearchField } from '../parts/search-field.tsx';
import { When } from '../parts/when.tsx';
import { nightsOf, windowSays, windowsOf } from '../rules/hours.ts';
import { type Campaign, number, plain } from '../rules/words.ts';
import { client, useMay } from '../session.ts';

const route = getRouteApi('/campaigns');
const STATUSES = ['running', 'paused', 'scheduled', 'draft', 'completed', 'stopped', 'cancelled', 'failed'] as const;
const ACTIVE = ['running', 'paused', 'scheduled'];

/** All campaigns, those that do something first. */
export function CampaignsScreen() {
  const { status, q } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const look = (change: { status?: string; q?: string }) =>
    navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const { data: workspace } = useWorkspace();
  const { data, error } = useQuery({
    queryKey: ['campaigns', status, q],
    placeholderData: (before) => before,
    refetchInterval: 5000,
    queryFn: () =>
      client.campaigns.list({
        perPage: 100,
        ...(status && { status: status as 'draft' }),
        ...(q && { searchText: q }),
      }),
  });
  const items = [...(data?.items ?? [])].sort((a, b) => rank(a) - rank(b));
  const zones = items.filter((each) => ACTIVE.includes(each.status)).map((each) => each.timezone);
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <>
      <Heading title="Campaigns">
        {may('campaigns:write') && (
          <Link to="/campaigns/new" className="button">
            New campaign
          </Link>
        )}
      </Heading>
      <div className="px-4 pb-4">
        <DayRail
          title="The day, by the clock of whoever is called"
          timezones={zones.length ? zones : [here]}
          {...(workspace?.quietHours && { nights: nightsOf(workspace) })}
        />
      </div>
      <form
        className="flex flex-wrap gap-2 border-y border-line px-4 py-2"
        onSubmit={(event) => event.preventDefault()}
      >
        <label className="flex items-center gap-2">
          <span className="label">State</span>
          <select value={status ?? ''} onChange={(event) => look({ status: event.target.value || undefined })}>
            <option value="">all</option>
            {STATUSES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <SearchField label="Name" value={q} onSearch={(text) => look({ q: text })} />
      </form>
      <Fault error={error} />
      {data && items.length === 0 ? (
        <Empty isFiltered={Boolean(status || q)} mayMake={may('campaigns:write')} />
      ) : (
        <Table items={items} />
      )}
      {data && data.totalCount > items.length && items.length > 0 && (
        <p className="label px-4 py-2">
          The newest {items.length} of {number(data.totalCount)}. The rest is found by name or state.
        </p>
      )}
    </>
  );
}

const rank = ({ status }: Campaign) => STATUSES.indexOf(status as 'draft');

function Table({ items }: { items: Campaign[] }) {
  return (
    <div className="overflow-x-auto">
      <table className="w-full border-collapse [&_td]:border-b [&_td]:border-line [&_td]:px-4 [&_td]:py-1.5 [&_th]:border-b [&_th]:border-rule [&_th]:px-4 [&_th]:py-1">
        <thead className="label">
          <tr>
            <th scope="col">Campaign</th>
            <th scope="col">State</th>
            <th scope="col" className="text-end!">
              Contacts
            </th>
            <th scope="col" className="max-md:hidden">
              Hours
            </th>
            <th scope="col" className="max-md:hidden">
              Pace
            </th>
            <th scope="col" className="max-sm:hidden">
              Changed
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((each) => (
            <tr key={each.id} className="hover:bg-raised">
              <td className="w-2/5 max-w-0 min-w-40">
                <Link
                  to="/campaigns/$campaignId"
                  params={{ campaignId: each.id }}
                  search={{}}
                  className="link clip block"
                >
                  {each.name}
                </Link>
              </td>
              <td className={each.status === 'running' ? 'font-semibold text-signal' : ''}>
                {each.status}
                {each.meta?.pause && <span className="text-dim">, {plain(each.meta.pause.reason)}</span>}
              </td>
              <td className="text-end">{each.totalContacts ? number(each.totalContacts) : '–'}</td>
              <td className="max-md:hidden">{windowsOf(each).map(windowSays).join('; ')}</td>
              <td className="max-md:hidden">
                {number(each.maxConcurrency)} at once
                {each.callsPerSecond ? `, ${number(each.callsPerSecond)} a second` : ''}
              </td>
              <td className="max-sm:hidden">
                <When at={each.updatedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Empty = ({ isFiltered, mayMake }: { isFiltered: boolean; mayMake: boolean }) =>
  isFiltered ? (
    <p className="px-4 py-6 text-dim">No campaign is like this. Take the filters away to see all.</p>
  ) : (
    <div className="max-w-prose px-4 py-6">
      <p className="text-head">Nobody is called yet.</p>
      <p className="mt-2">
        A campaign calls everybody of a spreadsheet. It is{' '}
        {mayMake ? (
          <Link to="/campaigns/new" className="link">
            made
          </Link>
        ) : (
          'made'
        )}
        , started, followed and stopped here.
      </p>
    </div>
  );
