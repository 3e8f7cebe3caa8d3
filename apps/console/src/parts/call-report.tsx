import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { NotFoundError } from '@trunkline/client';
import { endOf } from '../rules/call.ts';
import { client, useMay } from '../session.ts';
import { Fault } from './heading.tsx';

const LOOK_MS = 1000;
const ENDED: readonly string[] = ['completed', 'failed', 'cancelled'];

/** What becomes of a call to one's own phone, in words, and what is found if it is one that tests a number. */
export function CallReport({ roomId }: { roomId: string }) {
  const may = useMay();
  const { data, error } = useQuery({
    queryKey: ['test-call', roomId],
    enabled: may('calls:read'),
    refetchInterval: ({ state }) => (state.data && ENDED.includes(state.data.call.status) ? false : LOOK_MS),
    queryFn: async () => {
      const call = await client.calls.get(roomId);
      const report = await client.phoneNumbers.getTestCall(roomId).catch((refused) => {
        if (refused instanceof NotFoundError) return undefined;
        throw refused;
      });
      return { call, report };
    },
  });
  if (!data) return <Fault error={error} />;
  const { call, report } = data;
  return (
    <section aria-labelledby="came-of-it" className="mt-4 max-w-prose border-t border-line pt-3">
      <h3 id="came-of-it">
        The call to <span className="whitespace-nowrap">{call.toNumber}</span>
      </h3>
      <p role="status" className={report?.verdict === 'fault' ? 'text-signal' : ''}>
        {report?.verdict === 'works' && 'It works. '}
        {report?.verdict === 'fault' && 'Something is wrong. '}
        {endOf(call)}
        {call.simulated && ' It was simulated: no telephone rang.'}
      </p>
      {report?.findings && (
        <ul className="mt-1">
          {report.findings.map(({ code, message }) => (
            <li key={code}>{message}</li>
          ))}
        </ul>
      )}
      <Link to="/calls/$roomId" params={{ roomId }} className="link">
        All of this call
      </Link>
    </section>
  );
}
