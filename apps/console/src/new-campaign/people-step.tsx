import { useQuery } from '@tanstack/react-query';
import type { components } from '@trunkline/client';
import { useMemo } from 'react';
import { useNow, useWorkspace } from '../live.tsx';
import { DayRail } from '../parts/day-rail.tsx';
import { Fault } from '../parts/heading.tsx';
import { type ColumnOf, PagedTable } from '../parts/paged-table.tsx';
import type { ContactList } from '../rules/files.ts';
import { clock, isWithin, minutesIn, nightsOf, placeOf } from '../rules/hours.ts';
import { client } from '../session.ts';
import { GoOn } from './step.tsx';

type Entry = components['schemas']['ContactListEntry'];

/** The people as they were imported, each with the time that it is where they are. */
export function PeopleStep({ list }: { list: ContactList }) {
  const { data: workspace } = useWorkspace();
  const nights = nightsOf(workspace);
  const now = useNow(10_000);
  const { data, error } = useQuery({
    queryKey: ['list-entries', list.id, 'zones'],
    queryFn: () => client.contactLists.listEntries(list.id, { perPage: 100 }),
  });
  const zones = useMemo(() => data?.items.flatMap(zonesOf) ?? [], [data]);
  const columns = useMemo(() => columnsOf(now, nights), [now, nights]);
  return (
    <>
      <p className="max-w-prose">
        Who is called, and what time it is where they are. A number whose place is not known by it is called only while
        it is day in every place where it may be.
      </p>
      <div className="mt-3">
        <DayRail
          title="Now, by the clocks of these people"
          timezones={zones}
          {...(workspace?.quietHours && { nights })}
        />
      </div>
      <GoOn from="people" listId={list.id}>
        Choose who calls them
      </GoOn>
      <Fault error={error} />
      <div className="-mx-4 mt-4 border-t border-rule">
        <PagedTable
          name="People"
          queryKey={['list-entries', list.id]}
          load={(page, perPage) => client.contactLists.listEntries(list.id, { page, perPage, order: 'asc' })}
          total={list.totalEntries}
          columns={columns}
          keyOf={(each: Entry) => each.phoneNumber}
          whenEmpty="Nobody is on this list."
        />
      </div>
    </>
  );
}

const zonesOf = ({ timezone, timezones }: Entry) => (timezone ? [timezone] : (timezones ?? []));

const columnsOf = (now: Date, nights: ReturnType<typeof nightsOf>): ColumnOf<Entry>[] => [
  { head: 'Number', width: '132px', cell: ({ phoneNumber }) => phoneNumber },
  { head: 'Name', width: 'minmax(0,2fr)', cell: ({ name }) => name ?? <span className="text-dim">–</span> },
  { head: 'There it is', width: 'minmax(96px,2fr)', cell: (entry) => timesSay(zonesOf(entry), now, nights) },
  {
    head: 'Said by',
    width: '96px',
    isOptional: true,
    cell: ({ timezoneSource }) =>
      timezoneSource === 'column' ? 'the file' : timezoneSource === 'number' ? 'the number' : 'nothing',
  },
  {
    head: 'Told to the agent',
    width: 'minmax(0,4fr)',
    isOptional: true,
    cell: ({ variables, doNotCall }) =>
      `${doNotCall ? 'Not to be called. ' : ''}${Object.entries(variables as Record<string, string>)
        .filter(([, value]) => value)
        .map(([name, value]) => `${name}: ${value}`)
        .join(' · ')}`,
  },
];

/** The time where somebody is; of several places that of the first and how many others there are. */
function timesSay(zones: readonly string[], now: Date, nights: ReturnType<typeof nightsOf>): string {
  const [zone] = zones;
  const minute = zone === undefined ? undefined : minutesIn(zone, now);
  if (zone === undefined || minute === undefined) return 'not known';
  const more = zones.length > 1 ? ` or in ${zones.length - 1} more` : '';
  return `${clock(minute)}${isWithin(nights, minute) ? ', night' : ''}, ${placeOf(zone)}${more}`;
}
