import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { NotFoundError } from '@trunkline/client';
import type { ReactNode } from 'react';
import { Fault, Heading } from '../parts/heading.tsx';
import { Player, Said, usePlaying } from '../parts/recording.tsx';
import { timeOf, When } from '../parts/when.tsx';
import { endOf, named, timelineOf } from '../rules/call.ts';
import { type Call, duration, number, plain, reasonSays, short } from '../rules/words.ts';
import { client, useMay } from '../session.ts';

const route = getRouteApi('/calls/$roomId');
const UP = ['queued', 'dialing', 'ringing', 'in_progress'];

/** One call: what happened when, why it ended, what was said, and what came of it. */
export function CallScreen() {
  const { roomId } = route.useParams();
  const { data: call, error } = useQuery({
    queryKey: ['call', roomId],
    queryFn: () => client.calls.get(roomId),
    // A call that is up changes; what is reported of one that has ended may come after it.
    refetchInterval: ({ state }) => (state.data && UP.includes(state.data.status) ? 2000 : false),
  });
  const playing = usePlaying();
  if (!call) return <Fault error={error} />;
  const recording = call.recording;
  return (
    <>
      <Heading
        title={`${call.direction === 'inbound' ? 'Call from' : 'Call to'} ${call.direction === 'inbound' ? (call.fromNumber ?? 'a withheld number') : call.toNumber}`}
      />
      <div className="px-4 pb-3">
        <p role="status" className={`text-head ${UP.includes(call.status) ? 'text-signal' : ''}`}>
          {endOf(call)}
        </p>
        {call.reason && <p>Not placed: {reasonSays(call.reason)}.</p>}
        <p className="label">{call.simulated ? 'Simulated: no telephone rang.' : ''}</p>
      </div>
      {recording && (
        <Part title="Recording">
          {recording.url ? (
            <Player key={roomId} roomId={roomId} recording={{ ...recording, url: recording.url }} playing={playing} />
          ) : (
            <p className="text-dim">{plain(recording.status)}</p>
          )}
        </Part>
      )}
      <div className="grid border-t border-rule lg:grid-cols-[2fr_3fr]">
        <div className="lg:border-r lg:border-line">
          <Part title="Timeline">
            <ol>
              {timelineOf(call).map(({ at, says, after }) => (
                <li key={says} className="cells grid-cols-[108px_minmax(0,1fr)_64px] border-b border-line py-1">
                  <When at={at} />
                  <span>{says}</span>
                  <span className="text-end text-dim">{after}</span>
                </li>
              ))}
            </ol>
          </Part>
          <Part title="What is known of it">
            <Facts call={call} />
          </Part>
        </div>
        <div>
          <Part title="What was said">
            <Said call={call} {...(recording?.url && { playing })} />
          </Part>
          <Result call={call} />
        </div>
      </div>
      <Sip roomId={roomId} hasSip={call.sipStatus !== undefined && !call.simulated} />
    </>
  );
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="border-t border-line px-4 py-3 first:border-t-0">
    <h2>{title}</h2>
    <div className="mt-1">{children}</div>
  </section>
);

const Row = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="cells grid-cols-[108px_minmax(0,1fr)] border-b border-line py-1">
    <dt className="text-dim">{name}</dt>
    <dd className="break-words">{children}</dd>
  </div>
);

/** A number, which opens the person that it is of, for who may read that. */
function Phone({ number: phoneNumber, isPerson }: { number: string | undefined; isPerson: boolean }) {
  const may = useMay();
  if (!phoneNumber) return 'withheld';
  if (!isPerson || !may('contact_lists:read')) return phoneNumber;
  return (
    <Link to="/people/$phoneNumber" params={{ phoneNumber }} search={{}} className="link">
      {phoneNumber}
    </Link>
  );
}

function Facts({ call }: { call: Call }) {
  const { campaignId, agentEnd } = call;
  const facts: [string, ReactNode][] = [
    ['From', <Phone key="from" number={call.fromNumber} isPerson={call.direction === 'inbound'} />],
    ['To', <Phone key="to" number={call.toNumber} isPerson={call.direction !== 'inbound'} />],
    [
      'Campaign',
      campaignId && (
        <Link to="/campaigns/$campaignId" params={{ campaignId }} search={{ contact: call.toNumber }} className="link">
          {short(campaignId)}
        </Link>
      ),
    ],
    ['Attempt', call.attempt],
    ['Agent', call.agentId],
    ['Agent’s end', agentEnd && `${plain(agentEnd.reason)}${agentEnd.text ? `: ${agentEnd.text}` : ''}`],
    ['First heard', agentEnd?.firstSoundMs !== undefined && `${number(agentEnd.firstSoundMs)} ms after the answer`],
    ['Talk', call.durationSeconds !== undefined && duration(call.durationSeconds)],
    ['SIP', call.sipStatus && `${call.sipStatus} ${call.sipReason ?? ''}`],
    ['Answered by', call.answeredBy?.replaceAll('_', ' ')],
    ['Codec', call.codec],
    ['Encrypted with', call.encryptedWith],
    [
      'Packets lost',
      call.packetsReceived !== undefined &&
        `${number(call.packetsLost ?? 0)} of ${number(call.packetsReceived + (call.packetsLost ?? 0))}`,
    ],
    [
      'Variables',
      Object.entries(call.variables ?? {})
        .map(([name, value]) => `${name}: ${value}`)
        .join(' · '),
    ],
    ['ID', <code key="id">{call.roomId}</code>],
  ];
  return (
    <dl>
      {facts
        .filter(([, value]) => value !== undefined && value !== false && value !== '')
        .map(([name, value]) => (
          <Row key={name} name={name}>
            {value}
          </Row>
        ))}
    </dl>
  );
}

function Result({ call }: { call: Call }) {
  const { result } = call;
  if (!result) return null;
  const facts: [string, ReactNode][] = [
    ['Converted', result.converted === undefined ? undefined : result.converted ? 'yes' : 'no'],
    ['Opted out', result.optOut ? 'yes: the number is on the do-not-call list' : undefined],
    ['Disposition', result.disposition],
    ['Summary', result.summary],
    ['Cost', result.cost && `${result.cost.amount} ${result.cost.currency}`],
    ...Object.entries(result.data ?? {}).map(([name, value]): [string, ReactNode] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
    [
      'Complete',
      result.dataComplete === undefined
        ? undefined
        : result.dataComplete
          ? 'yes'
          : 'no: values that the agent asks for are missing',
    ],
    ['Recorded', <When key="at" at={result.recordedAt} />],
  ];
  return (
    <Part title="Result">
      <dl>
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => (
            <Row key={name} name={name}>
              {value}
            </Row>
          ))}
      </dl>
    </Part>
  );
}

/** The SIP messages as a ladder: sent to the right, received to the left; each opens to its text. */
function Sip({ roomId, hasSip }: { roomId: string; hasSip: boolean }) {
  const may = useMay();
  const { data, error } = useQuery({
    queryKey: ['sip', roomId],
    enabled: hasSip && may('calls:read'),
    queryFn: () =>
      client.calls.getSip(roomId).catch((refused) => {
        if (refused instanceof NotFoundError) return null;
        throw refused;
      }),
  });
  if (!data || data.messages.length === 0) return <Fault error={error} />;
  return (
    <div className="border-t border-rule">
      <Part title="SIP">
        {named(data.messages).map((message) => (
          <details key={message.name} className="border-b border-line py-1">
            <summary className="cells cursor-pointer grid-cols-[108px_32px_minmax(0,1fr)]">
              <span>{timeOf(message.at)}</span>
              <span>{message.direction === 'sent' ? '→' : '←'}</span>
              <span className="clip">{message.summary}</span>
            </summary>
            <p className="label">
              {message.direction} {message.direction === 'sent' ? 'to' : 'from'} {message.peer} over {message.transport}
            </p>
            <pre className="overflow-x-auto font-mono text-small">{message.text}</pre>
          </details>
        ))}
      </Part>
    </div>
  );
}
