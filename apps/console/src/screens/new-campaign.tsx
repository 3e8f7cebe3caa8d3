import { getRouteApi, Link, useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { AgentStep } from '../new-campaign/agent-step.tsx';
import { CallStep } from '../new-campaign/call-step.tsx';
import { ColumnsStep } from '../new-campaign/columns-step.tsx';
import { FollowUpload, useCampaignsOf, useContactList, useDraft, useReadAgain } from '../new-campaign/data.tsx';
import { FileStep } from '../new-campaign/file-step.tsx';
import { HoursStep } from '../new-campaign/hours-step.tsx';
import { PeopleStep } from '../new-campaign/people-step.tsx';
import { StartStep } from '../new-campaign/start-step.tsx';
import { Fault, Heading } from '../parts/heading.tsx';
import type { ContactList } from '../rules/files.ts';
import { windowSays, windowsOf } from '../rules/hours.ts';
import { openSteps, STEPS, type Step, stepOf } from '../rules/steps.ts';
import { type Campaign, several } from '../rules/words.ts';
import { useMay } from '../session.ts';

const route = getRouteApi('/campaigns/new/$contactListId');

/** The first step: a file, and nothing made yet. */
export function NewCampaignScreen() {
  return (
    <>
      <Heading title="New campaign" />
      <Desk step="file" list={undefined} draft={undefined}>
        <FileStep list={undefined} visit={useVisit()} />
      </Desk>
    </>
  );
}

/** Names this visit of the page, also after a reload of it. */
const useVisit = () => useLocation({ select: ({ state }) => state.__TSR_key ?? 'first' });

/** The way of a list to a campaign that calls it. Where one stands is told by the server alone. */
export function ListCampaignScreen() {
  useReadAgain();
  const { contactListId } = route.useParams();
  const { step: asked, call } = route.useSearch();
  const visit = useVisit();
  const { data: list, error } = useContactList(contactListId);
  const { data: campaigns, error: campaignsError } = useCampaignsOf(contactListId);
  const draft = useDraft(campaigns?.draft);
  if (!list || !campaigns) return <Fault error={error ?? campaignsError} />;
  const { others, count } = campaigns;
  const upload = list.uploadDetails;
  const step = stepOf(asked, list, draft);
  return (
    <>
      {upload && <FollowUpload listId={list.id} upload={upload} />}
      <Heading title={draft ? `New campaign: ${draft.name}` : 'New campaign'} />
      <Desk step={step} list={list} draft={draft}>
        {step === 'file' && <FileStep list={list} visit={visit} />}
        {step === 'columns' && <ColumnsStep list={list} upload={upload!} />}
        {step === 'people' && <PeopleStep list={list} />}
        {step === 'agent' && (
          <>
            <CalledBy campaigns={others} />
            <AgentStep key={draft?.id} list={list} draft={draft} count={count} />
          </>
        )}
        {step === 'hours' && <HoursStep list={list} draft={draft!} />}
        {step === 'call' && <CallStep list={list} draft={draft!} roomId={call} />}
        {step === 'start' && <StartStep draft={draft!} />}
      </Desk>
    </>
  );
}

/** Which campaigns call the list already. */
const CalledBy = ({ campaigns }: { campaigns: Campaign[] }) =>
  campaigns.length > 0 && (
    <p className="mb-4 max-w-prose">
      This list was called before, by{' '}
      {campaigns.slice(0, 3).map(({ id, name, status }, at) => (
        <span key={id}>
          {at > 0 && ', '}
          <Link to="/campaigns/$campaignId" params={{ campaignId: id }} search={{}} className="link">
            {name}
          </Link>{' '}
          ({status})
        </span>
      ))}
      . What is made here is another campaign, which calls the same people again.
    </p>
  );

interface DeskProps {
  step: Step;
  list: ContactList | undefined;
  draft: Campaign | undefined;
  children: ReactNode;
}

/** The steps, of which those are open that can be, and the one that is on. */
function Desk({ step, list, draft, children }: DeskProps) {
  const may = useMay();
  const open = openSteps(list, draft);
  const shown = STEPS.filter(({ permission }) => may(permission));
  const { name } = STEPS.find(({ id }) => id === step)!;
  const head = useStepHead(step);
  const isMine = shown.some(({ id }) => id === step);
  return (
    <div className="border-t border-rule xl:grid xl:grid-cols-[264px_minmax(0,1fr)]">
      <nav aria-label="Steps" className="border-line max-xl:border-b xl:border-r">
        <ol className="max-xl:flex max-xl:flex-wrap max-xl:px-1.5">
          {shown.map(({ id, name: says }, at) => (
            <li
              key={id}
              className="border-line max-xl:border-r xl:border-b"
              aria-current={id === step ? 'step' : undefined}
            >
              <StepLink listId={list?.id} step={id} isOpen={open.includes(id)} isOn={id === step}>
                <span className="text-dim">{at + 1}</span>{' '}
                <span className={id === step ? '' : 'max-xl:sr-only'}>{says}</span>
                <span className="label clip col-start-2 max-xl:hidden">{told(id, list, draft)}</span>
              </StepLink>
            </li>
          ))}
        </ol>
      </nav>
      <section aria-labelledby="step" className="min-w-0 px-4 py-3">
        <h2 id="step" ref={head} tabIndex={-1} className="mb-2 text-head outline-none">
          {name}
        </h2>
        {isMine ? children : <p>You may not do this step. Ask whoever runs this workspace.</p>}
      </section>
    </div>
  );
}

/** A step that comes up is read from its beginning, unless somebody is busy elsewhere; the first comes with its page. */
function useStepHead(step: Step) {
  const head = useRef<HTMLHeadingElement>(null);
  const before = useRef(step);
  useEffect(() => {
    if (before.current === step) return;
    before.current = step;
    const { activeElement } = document;
    const isHere = activeElement === document.body || head.current?.closest('main')?.contains(activeElement);
    if (isHere) head.current?.focus();
  }, [step]);
  return head;
}

interface StepLinkProps {
  listId: string | undefined;
  step: Step;
  isOpen: boolean;
  isOn: boolean;
  children: ReactNode;
}

function StepLink({ listId, step, isOpen, isOn, children }: StepLinkProps) {
  const look = `grid grid-cols-[auto_auto] justify-start gap-x-2 px-2.5 py-1.5 whitespace-nowrap xl:px-4 xl:grid-cols-[16px_minmax(0,1fr)] ${isOn ? 'bg-raised font-semibold' : ''}`;
  if (!isOpen || listId === undefined) return <span className={`${look} ${isOn ? '' : 'text-dim'}`}>{children}</span>;
  return (
    <Link
      to="/campaigns/new/$contactListId"
      params={{ contactListId: listId }}
      search={(before: object) => ({ ...before, step })}
      className={`${look} hover:bg-raised`}
    >
      {children}
    </Link>
  );
}

/** What a step has come to, in a few words. */
function told(step: Step, list: ContactList | undefined, draft: Campaign | undefined): string {
  const { fileName, metadata } = list?.uploadDetails ?? {};
  if (step === 'file') return fileName ?? list?.name ?? '';
  if (step === 'columns') return metadata ? `${several(metadata.validRows, 'row')} of ${metadata.totalRows}` : '';
  if (step === 'people') return list?.status === 'ready' ? several(list.totalEntries, 'person', 'people') : '';
  if (!draft) return '';
  if (step === 'agent') return `${draft.agentId}, ${draft.fromNumber ?? 'a pool'}`;
  return step === 'hours' ? windowsOf(draft).map(windowSays).join('; ') : '';
}
