/**
 * The interface that the service was asked for, to the letter: its 28 operations and the fields of its resources. What
 * it leaves open is not in here. `!` is what is required; `(asked)` is what is sent alone, a password; `a|b` are values
 * that there are among others; `1..5` is how much there may be.
 */
const RESOURCES = `
PhoneNumber
  id string
  phoneNumber string
  friendlyName string
  label string
  country string
  status string
  provider string
  providerMonthlyCost number
  providerCurrency string
  isCustomerManaged boolean
  isInboundReady boolean
  isOutboundReady boolean
  inboundAgentPublicId string
  inboundAgentName string
  inboundWebhookUrl string
  outboundAgentPublicId string
  outboundAgentName string
  allowedInboundCountries string[]
  allowedOutboundCountries string[]
  sipConfig SipConfig
  spaceId string
  createdAt string
  updatedAt string
SipConfig
  terminationUrl string
  username string
  password string (asked)
  transport string
  ipAllowlist string[]
PhoneNumberPage
  items PhoneNumber[]
  page integer
  perPage integer
  totalCount integer
  column phone_number|created_at
  order asc|desc
  searchText string
Run
  id! string
  automationId! string
  automationName string
  version! integer
  parentRunId string
  parentStepId string
  currentStepId string
  concurrencyKey string
  status! queued|running|waiting_call|waiting_schedule|waiting_automation|blocked|completed|failed|cancelled
  currentNodeId string
  currentNodeTitle string
  context free
  output free
  error free
  revision integer
  wakeAt date-time
  createdAt! date-time
  updatedAt! date-time
Woken
  woken string[]
ContactList
  id string
  name string
  storageKey string
  status ready|draft|archived
  type contacts|dnd|batch
  totalEntries integer
  createdAt string
  updatedAt string
  uploadDetails Upload
  uploadHeaders object
  uploadUrl string
Upload
  id string
  status uploaded
  storageKey string
  uploadedAt string
  validatedAt string
  processedAt string
  errors integer[]
  errorReportStorageKey string
  errorReportUrl string
  metadata UploadMetadata
UploadMetadata
  totalRows integer
  validRows integer
  invalidRows integer
  duplicateRows integer
  importedRows integer
UploadEvent
  eventId string
  eventType string
  data Upload
  errorReportUrl string
Campaign
  id string
  name string
  description string
  agentId string
  direction string
  fromNumber string
  status string
  timezone string
  createdAt string
  updatedAt string
  scheduledAt string
  startDate string
  endDate string
  pausedAt string
  resumedAt string
  stoppedAt string
  cancelledAt string
  lists CampaignList[]
  maxConcurrency integer
  totalContacts number
  targetCallCount number
  targetConversionRate number
  scheduleStart number
  scheduleEnd number
  retryPolicy number[]
  meta CampaignMeta
CampaignList
  id string
  role string
CampaignMeta
  failure CampaignFailure
CampaignFailure
  reason string
BatchStarted
  acceptedRecipients object[]
  rejectedRecipients object[]
KnowledgeBase
  id string
  name string
  description string
  status empty|processing|ready|failed
  documentCount integer
  documents Document[]
  createdAt date-time
  updatedAt date-time
Document
  id string
  fileName string
  fileType string
  fileSizeBytes integer
  extractedTextSizeBytes integer
  status pending
  errorMessage string
  createdAt date-time
  updatedAt date-time
NumberPool
  id string
  name string
  description string
  count integer
  createdAt date-time
  updatedAt date-time
TrunkValidation
  valid integer
  invalid integer
  invalidNumbers string[]
`;

/** `bare` or `wrapped` in `{success, data}`, and the resource that is answered; `-` if none is shown. */
const OPERATIONS = `
GET /v1/telephony/phone-numbers
  query page integer
  query perPage integer
  query column phone_number|created_at
  query order asc|desc
  query searchText string
  bare PhoneNumberPage
POST /v1/telephony/phone-numbers/buy
  body phoneNumber! string
  body provider! string
  bare PhoneNumber
  status 402
POST /v1/telephony/phone-numbers/import/manual
  bare -
GET /v1/telephony/phone-numbers/{id}
  bare PhoneNumber
PATCH /v1/telephony/phone-numbers/{id}
  body friendlyName string
  body label string
  body inboundAgentId string
  body outboundAgentId string
  body useSameForInbound boolean
  body outboundTermination string
  body allowedInboundCountries string[]
  body allowedOutboundCountries string[]
  bare -
POST /v1/workflows/{workflowId}/run
  header Idempotency-Key! string
  header Concurrency-Key string
  header Cooldown-Minutes integer 0..10080
  body context free
  wrapped Run 202
  status 400 409
POST /v1/workflows/{workflowId}/runs/{runId}/cancel
  wrapped Run
POST /v1/workflows/{workflowId}/runs/wake
  body concurrencyKeys! string[] 1..500
  wrapped Woken
POST /v1/calls/contact-lists
  body fileName string
  body name string
  bare ContactList
GET /v1/calls/contact-lists/{id}/uploads/{uploadID}/events
  bare -
POST /v1/calls/contact-lists/{id}/uploads/{uploadID}/confirm
  bare -
DELETE /v1/calls/contact-lists/{id}
  bare -
POST /v1/calls/campaigns/{id}/start
  wrapped Campaign
POST /v1/calls/batch
  body recipients object[] 1..1000
  body metadata object
  bare BatchStarted
POST /v1/calls/{roomId}/end
  bare -
GET /v1/knowledge-bases
  wrapped -
POST /v1/knowledge-bases
  wrapped -
GET /v1/knowledge-bases/{kbId}
  wrapped KnowledgeBase
DELETE /v1/knowledge-bases/{kbId}
  wrapped -
DELETE /v1/knowledge-bases/{kbId}/documents/{docId}
  wrapped -
GET /v1/number-pools
  wrapped -
POST /v1/number-pools
  wrapped -
GET /v1/number-pools/{id}
  wrapped NumberPool
PATCH /v1/number-pools/{id}
  wrapped -
DELETE /v1/number-pools/{id}
  wrapped -
GET /v1/number-pools/{id}/members
  wrapped -
POST /v1/number-pools/{id}/members/move
  wrapped -
GET /v1/number-pools/{id}/validate-trunks
  wrapped TrunkValidation
`;

/** A row of the table: a field of a resource or a body, a parameter. */
export interface Row {
  name: string;
  type: string;
  isRequired: boolean;
  isAsked: boolean;
  /** The least and the most of it. */
  range: [number, number] | undefined;
}

/** An operation of the table. */
export interface TableOperation {
  /** Method and path. */
  key: string;
  parameters: (Row & { in: 'query' | 'header' })[];
  body: Row[];
  isWrapped: boolean;
  /** The resource that is answered; undefined if none is shown. */
  resource: string | undefined;
  /** The status of success; undefined if none is shown. */
  success: number | undefined;
  /** Statuses of its own that are no success. */
  statuses: number[];
}

function rowOf(text: string): Row {
  const [name, type, more] = text.split(' ') as [string, string, string?];
  const range = more?.includes('..') ? (more.split('..').map(Number) as [number, number]) : undefined;
  return { name: name.replace('!', ''), type, isRequired: name.endsWith('!'), isAsked: more === '(asked)', range };
}

/** The lines below each line that is not indented. */
function blocksOf(text: string): [head: string, lines: string[]][] {
  return text
    .trim()
    .split(/\n(?! )/)
    .map((block) => {
      const [head, ...lines] = block.split('\n').map((line) => line.trim());
      return [head!, lines];
    });
}

export const resources = new Map(blocksOf(RESOURCES).map(([name, lines]) => [name, lines.map(rowOf)]));

export const tableOperations: TableOperation[] = blocksOf(OPERATIONS).map(([key, lines]) => {
  const of = (kind: string) =>
    lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.slice(kind.length + 1));
  const isWrapped = of('wrapped').length > 0;
  const [resource, success] = [...of('wrapped'), ...of('bare')][0]!.split(' ') as [string, string?];
  return {
    key,
    parameters: (['query', 'header'] as const).flatMap((at) => of(at).map((line) => ({ ...rowOf(line), in: at }))),
    body: of('body').map(rowOf),
    isWrapped,
    resource: resource === '-' ? undefined : resource,
    success: success === undefined ? undefined : Number(success),
    statuses: of('status').flatMap((line) => line.split(' ').map(Number)),
  };
});
