import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Fault } from '../parts/heading.tsx';
import { StartByCount } from '../parts/start-by-count.tsx';
import { When } from '../parts/when.tsx';
import { type Campaign, number, reasonSays, reasonWords } from '../rules/words.ts';
import { client } from '../session.ts';
import { Scrolled } from './scrolled.tsx';

const SHOWN = 20;

/** The last step: a dry run, and the count typed. */
export function StartStep({ draft }: { draft: Campaign }) {
  const navigate = useNavigate();
  const { data: preview, error } = useQuery({
    queryKey: ['preview', draft.id, 'sample'],
    queryFn: () => client.campaigns.preview(draft.id, { sampleSize: SHOWN }),
  });
  const isHeld = preview?.sample.some(({ reason }) => reason !== undefined);
  return (
    <>
      <div className="max-w-xl border border-rule bg-raised px-4 py-3">
        <StartByCount
          campaign={draft}
          onDone={() => navigate({ to: '/campaigns/$campaignId', params: { campaignId: draft.id }, search: {} })}
        />
      </div>
      <Fault error={error} />
      {preview && preview.sample.length > 0 && (
        <div className="mt-5">
          <h3>The first {number(preview.sample.length)}, as they would be called: nobody is, until it starts</h3>
          <Scrolled name="The first, as they would be called">
            <thead className="label">
              <tr>
                <th scope="col">Number</th>
                <th scope="col">Name</th>
                <th scope="col">From</th>
                <th scope="col">When, by your clock</th>
                {isHeld && <th scope="col">Why not, or not yet</th>}
              </tr>
            </thead>
            <tbody>
              {preview.sample.map((each) => (
                <tr key={each.phoneNumber}>
                  <td className="whitespace-nowrap">{each.phoneNumber}</td>
                  <td>{each.name ?? <span className="text-dim">–</span>}</td>
                  <td className="whitespace-nowrap">{each.fromNumber ?? <span className="text-dim">–</span>}</td>
                  <td className="whitespace-nowrap">
                    <When at={each.nextAttemptAt} />
                  </td>
                  {isHeld && (
                    <td>{each.reason && `${reasonSays(each.reason)}. ${reasonWords[each.reason]?.todo ?? ''}`}</td>
                  )}
                </tr>
              ))}
            </tbody>
          </Scrolled>
        </div>
      )}
    </>
  );
}
