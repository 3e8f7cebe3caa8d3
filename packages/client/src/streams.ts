import type { Client } from 'openapi-fetch';
import { type EventOptions, followEvents } from './event-stream.ts';
import type { components, paths } from './generated/schema.ts';

type Schemas = components['schemas'];
export type UploadEvent = Schemas['ContactListUploadEvent'];
export type CampaignEvent = Schemas['CampaignEvent'];
export type WorkflowRunEvent = Schemas['WorkflowRunEvent'];
type Events<Event> = AsyncGenerator<Event, void, undefined>;

/** Where a stream ends: nothing more happens without the client. */
const UPLOAD_ENDS: ReadonlySet<string> = new Set(['validated', 'processed', 'failed', 'expired']);
const CAMPAIGN_ENDS: ReadonlySet<string> = new Set(['completed', 'stopped', 'cancelled', 'failed']);
const RUN_ENDS: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

const headerOf = (lastEventId: string | undefined) => (lastEventId ? { 'Last-Event-ID': lastEventId } : {});

/** The event streams of the service. */
export interface EventStreams {
  /**
   * What happens to an upload: from now on, to `validated`, `processed`, `failed` or `expired`. With `lastEventId`,
   * what came after it; after `validated` it waits for the confirm.
   */
  uploadEvents(contactListId: string, uploadId: string, options?: EventOptions): Events<UploadEvent>;
  /** What happens to a campaign, with its counts, until it has ended. */
  campaignEvents(campaignId: string, options?: EventOptions): Events<CampaignEvent>;
  /** What happens to a workflow's run, until it has ended. */
  workflowRunEvents(workflowId: string, runId: string, options?: EventOptions): Events<WorkflowRunEvent>;
}

/** @param fetch One that retries nothing: streams come back by themselves. */
export const eventStreams = (raw: Client<paths>, fetch: (request: Request) => Promise<Response>): EventStreams => ({
  uploadEvents: (id, uploadID, options) =>
    followEvents<UploadEvent>(
      {
        open: (lastEventId, signal) =>
          raw.GET('/v1/calls/contact-lists/{id}/uploads/{uploadID}/events', {
            params: { path: { id, uploadID }, header: headerOf(lastEventId) },
            parseAs: 'stream',
            signal,
            fetch,
          }),
        isLast: ({ data }) => UPLOAD_ENDS.has(data.status),
      },
      options,
    ),
  campaignEvents: (id, options) =>
    followEvents<CampaignEvent>(
      {
        open: (lastEventId, signal) =>
          raw.GET('/v1/calls/campaigns/{id}/events', {
            params: { path: { id }, header: headerOf(lastEventId) },
            parseAs: 'stream',
            signal,
            fetch,
          }),
        isLast: ({ data }) => CAMPAIGN_ENDS.has(data.campaign.status),
      },
      options,
    ),
  workflowRunEvents: (workflowId, runId, options) =>
    followEvents<WorkflowRunEvent>(
      {
        open: (lastEventId, signal) =>
          raw.GET('/v1/workflows/{workflowId}/runs/{runId}/events', {
            params: { path: { workflowId, runId }, header: headerOf(lastEventId) },
            parseAs: 'stream',
            signal,
            fetch,
          }),
        isLast: ({ data }) => RUN_ENDS.has(data.status),
      },
      options,
    ),
});
