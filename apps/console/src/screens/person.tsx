import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { NotFoundError } from '@trunkline/client';
import type { FormEvent, ReactNode } from 'react';
import { useWorkspace } from '../live.tsx';
import { DayRail } from '../parts/day-rail.tsx';
import { DoNotCall } from '../parts/do-not-call.tsx';
import { Fault, Heading } from '../parts/heading.tsx';
import { When } from '../parts/when.tsx';
import { nightsOf } from '../rules/hours.ts';
import { consentSays, type Person, type PersonCampaign, summaryOf, verdictOf } from '../rules/person.ts';
import { type Call, duration, plain, several } from '../rules/words.ts';
import { client } from '../session.ts';

const route = getRouteApi('/people/$phoneNumber');
const REFETCH_MS = 5000;

/** What is known of a number: whether it may be called now, by which campaign, why not, and what there was. */
export function PersonScreen() {
  const { phoneNumber } = route.useParams();
  const { country } = route.useSearch();
  const { data: person, error } = useQuery({
    queryKey: ['person', phoneNumber, country],
    refetchInterval: REFETCH_MS,
    queryFn: () =>
      client.people.get(phoneNumber, country ? { defaultCountry: country } : {}).catch((refused) => {
        if (refused instanceof NotFoundError) return null;
        throw refused;
      }),
  });
  if (person) return <Known person={person} />;
  return (
    <>
      <Heading title={phoneNumber}>{person === null && <DoNotCall phoneNumber={phoneNumber} />}</Heading>
      {person === null && (
        <p className="max-w-prose border-t border-line px-4 py-6">
          Nothing here knows this number: it is in no contact list, and there was no call with it. Put it on the
          do-not-call list if it never is to be called; a list that has it brings it into campaigns.
        </p>
      )}
      {error && (phoneNumber.startsWith('+') ? <Fault error={error} /> : <CountryForm fault={error} />)}
    </>
  );
}

/** A number without its country can't be known. */
function CountryForm({ fault }: { fault: unknown }) {
  const { country } = route.useSearch();
  const navigate = route.useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const code = new FormData(event.currentTarget).get('country') as string;
    navigate({ search: { country: code.trim().toUpperCase() }, replace: true });
  };
  return (
    <form onSubmit={submit} className="border-t border-line px-4 py-4">
      <label htmlFor="country">In which country is it dialled like this? Its two letters, such as US or DE:</label>
      <div className="mt-2 flex gap-2">
        <input id="country" name="country" required pattern="[A-Za-z]{2}" defaultValue={country} className="w-16" />
        <button type="submit" className="button">
          Look
        </button>
      </div>
      {country && <Fault error={fault} />}
    </form>
  );
}

function Known({ person }: { person: Person }) {
  const { data: workspace } = useWorkspace();
  const { phoneNumber, lists, campaigns, calls, timezones } = person;
  const name =
    lists.find(({ entry }) => entry.name)?.entry.name ?? campaigns?.find((each) => each.contact.name)?.contact.name;
  const { says, at, isNow } = summaryOf(person);
  // A list knows better than the number.
  const known = lists.flatMap(({ entry }) => entry.timezone ?? []);
  return (
    <>
      <Heading title={name ? `${name} · ${phoneNumber}` : phoneNumber}>
        <DoNotCall phoneNumber={phoneNumber} person={person} />
      </Heading>
      <div className="px-4 pb-3">
        <p role="status" className={`text-head ${isNow || person.isDoNotCall ? 'text-signal' : ''}`}>
          {says}{' '}
          {at && (
            <>
              The first may at <When at={at} />.
            </>
          )}
        </p>
        {person.doNotCall?.map((each) => (
          <p key={`${each.source} ${each.contactListId}`} className="max-w-prose">
            {each.source === 'opt_out' ? 'Opted out' : 'By a contact list'} <When at={each.createdAt} />
            {each.reason && `: ${each.reason}`}
          </p>
        ))}
      </div>
      <div className="border-t border-rule px-4 py-2">
        <DayRail
          title="This person’s day"
          timezones={known.length > 0 ? known : timezones}
          {...(workspace?.quietHours && { nights: nightsOf(workspace) })}
        />
      </div>
      {campaigns && <Campaigns campaigns={campaigns} phoneNumber={phoneNumber} />}
      <div className="grid border-t border-rule lg:grid-cols-2">
        <Lists lists={lists} />
        {calls && <Calls calls={calls} phoneNumber={phoneNumber} hasMore={person.hasMoreCalls === true} />}
      </div>
    </>
  );
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="border-line px-4 py-3 max-lg:border-t max-lg:first:border-t-0 lg:border-r lg:last:border-r-0">
    <h2>{title}</h2>
    {children}
  </section>
);

/** May each campaign call this person now, if not why, and when. */
const Campaigns = ({ campaigns, phoneNumber }: { campaigns: PersonCampaign[]; phoneNumber: string }) => (
  <section aria-labelledby="campaigns" className="border-t border-rule px-4 py-3">
    <h2 id="campaigns">May it be called now?</h2>
    {campaigns.length === 0 && (
      <p className="mt-1 text-dim">It is in no campaign. A campaign calls whoever is in its contact lists.</p>
    )}
    <ul className="mt-1">
      {campaigns.map((each) => {
        const { says, todo, at, isNow } = verdictOf(each);
        const { campaignId, batchId, name, status, contact } = each;
        return (
          <li
            key={campaignId ?? batchId}
            className="cells gap-y-0.5 border-b border-line py-1.5 md:grid-cols-[minmax(0,2fr)_88px_minmax(0,4fr)_132px]"
          >
            {campaignId ? (
              <Link
                to="/campaigns/$campaignId"
                params={{ campaignId }}
                search={{ contact: phoneNumber }}
                className="link clip"
              >
                {name ?? campaignId}
              </Link>
            ) : (
              <span className="clip">A batch</span>
            )}
            <span className="text-dim">{plain(status)}</span>
            <span className="break-words">
              <span className={isNow ? 'font-semibold text-signal' : ''}>{says}</span> {todo}
            </span>
            <span className="text-dim">
              {at ? (
                <>
                  from <When at={at} />
                </>
              ) : (
                several(contact.attempts, 'call')
              )}
            </span>
          </li>
        );
      })}
    </ul>
  </section>
);

function Lists({ lists }: { lists: Person['lists'] }) {
  return (
    <Part title="In the lists">
      {lists.length === 0 && <p className="mt-1 text-dim">It is in no contact list.</p>}
      <ul className="mt-1">
        {lists.map(({ contactListId, name, type, entry }) => {
          const facts = [
            entry.name,
            entry.doNotCall && 'is not to be called',
            consentSays(entry),
            ...Object.entries(entry.variables as Record<string, string>).map(([key, value]) => `${key}: ${value}`),
          ].filter(Boolean);
          return (
            <li key={contactListId} className="border-b border-line py-1.5">
              <p className="flex justify-between gap-4">
                <span className="clip">{name}</span>
                <span className="whitespace-nowrap text-dim">
                  {type === 'dnd' ? 'do not call' : ''} <When at={entry.createdAt} />
                </span>
              </p>
              <p className="label break-words">{facts.join(' · ')}</p>
            </li>
          );
        })}
      </ul>
    </Part>
  );
}

function Calls({ calls, phoneNumber, hasMore }: { calls: Call[]; phoneNumber: string; hasMore: boolean }) {
  return (
    <Part title="Calls">
      {calls.length === 0 && <p className="mt-1 text-dim">There was no call with it.</p>}
      <ul className="mt-1">
        {calls.map(({ roomId, queuedAt, outcome, status, direction, durationSeconds }) => (
          <li key={roomId}>
            <Link
              to="/calls/$roomId"
              params={{ roomId }}
              className="cells grid-cols-[108px_minmax(0,1fr)_56px] border-b border-line py-1 hover:bg-raised"
            >
              <When at={queuedAt} />
              <span className="link clip">
                {direction === 'inbound' && 'they called: '}
                {plain(outcome ?? status)}
              </span>
              <span className="text-end">{durationSeconds === undefined ? '' : duration(durationSeconds)}</span>
            </Link>
          </li>
        ))}
      </ul>
      {hasMore && (
        <p className="mt-2">
          <Link to="/calls" search={{ phoneNumber }} className="link">
            All calls to this number
          </Link>
        </p>
      )}
    </Part>
  );
}
