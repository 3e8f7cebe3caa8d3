interface Schema {
  [keyword: string]: unknown;
  required: string[];
  properties: Record<string, Schema>;
  enum: string[];
}
interface Operation {
  'x-permission': string;
  parameters: { name: string; in: string; required?: boolean; schema: Partial<Schema> }[];
  requestBody: { required?: boolean; content: Record<string, unknown> };
  responses: Record<string, { 'x-error-codes': string[]; content: Record<string, { examples: object }> }>;
}
/** A released contract, as far as the edits here read it. */
export interface Editable {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, unknown>;
  components: { schemas: Record<string, Schema> };
}

const operation = (document: Editable, method: string, path: string) => document.paths[`/v1${path}`]![method]!;
const schema = (document: Editable, name: string) => document.components.schemas[name]!;
const field = (document: Editable, name: string, property: string) => schema(document, name).properties[property]!;
const parameter = (document: Editable, path: string, name: string) =>
  operation(document, 'get', path).parameters.find((each) => each.name === name)!;
const lacks = <Value>(list: Value[], value: Value) => list.splice(list.indexOf(value), 1);

/** What breaks clients, kind by kind: what of, a line that tells it, and an edit of the released one that does it. */
export const BREAKS: [name: string, told: RegExp, edit: (document: Editable) => unknown][] = [
  ['a path less', /audit-log.*removed/, (d) => delete d.paths['/v1/audit-log']],
  [
    'an operation less',
    /do-not-call~1\{phoneNumber\}.*removed/,
    (d) => delete d.paths['/v1/calls/do-not-call/{phoneNumber}']!['delete'],
  ],
  ['a webhook less', /`batch\.completed` was removed/, (d) => delete d.webhooks['batch.completed']],
  [
    'another permission',
    /POST \/v1\/calls\/\{roomId\}\/end: Its permission became calls:read/,
    (d) => {
      operation(d, 'post', '/calls/{roomId}/end')['x-permission'] = 'calls:read';
    },
  ],
  [
    "a code less in an error's list and examples",
    /roomId\}\/end: 409 no longer tells call_not_active/,
    (d) => {
      const { 409: conflict } = operation(d, 'post', '/calls/{roomId}/end').responses;
      conflict!['x-error-codes'] = ['invalid_state'];
      conflict!.content['application/json']!.examples = {};
    },
  ],
  [
    'an error less',
    /publish: 400 no longer tells invalid_request/,
    (d) => {
      const { responses } = operation(d, 'post', '/workflows/{workflowId}/publish');
      delete responses['400'];
    },
  ],
  [
    'a status less',
    /contact-lists~1\{id\}\/get\/responses.*`200` became `203`/,
    (d) => {
      const { responses } = operation(d, 'get', '/calls/contact-lists/{id}');
      responses['203'] = responses['200']!;
      delete responses['200'];
    },
  ],
  [
    'a field less in an answer',
    /`processedAt` of `ContactListUpload` was removed/,
    (d) => delete schema(d, 'ContactListUpload').properties['processedAt'],
  ],
  [
    'a field in an answer that may be absent',
    /no longer required: `fileSizeBytes`/,
    (d) => lacks(schema(d, 'KnowledgeBaseDocument').required, 'fileSizeBytes'),
  ],
  [
    'another type in an answer',
    /version.*'integer' to 'string'/,
    (d) => {
      schema(d, 'WorkflowVersionNumber')['type'] = 'string';
    },
  ],
  [
    'a value less in an answer',
    /Values were removed: no_valid_rows/,
    (d) => lacks(schema(d, 'ContactListUploadFailureCode').enum, 'no_valid_rows'),
  ],
  [
    'another kind of content in an answer',
    /api-keys\/get\/responses\/200\/content.*removed/,
    (d) => {
      const { content } = operation(d, 'get', '/api-keys').responses['200']!;
      content['text/plain'] = content['application/json']!;
      delete content['application/json'];
    },
  ],
  [
    'a parameter less',
    /`contains` query parameter was removed/,
    (d) =>
      lacks(
        operation(d, 'get', '/telephony/available-phone-numbers').parameters,
        parameter(d, '/telephony/available-phone-numbers', 'contains'),
      ),
  ],
  [
    'a parameter that has to be sent',
    /`areaCode` query parameter became required/,
    (d) => {
      parameter(d, '/telephony/available-phone-numbers', 'areaCode').required = true;
    },
  ],
  [
    'a new parameter that has to be sent',
    /Required `kind` query parameter was added/,
    (d) =>
      operation(d, 'get', '/webhooks').parameters.push({
        name: 'kind',
        in: 'query',
        required: true,
        schema: { type: 'string' },
      }),
  ],
  [
    'another default of a query',
    /available-phone-numbers query country: The default became "CA" and was "US"/,
    (d) => {
      parameter(d, '/telephony/available-phone-numbers', 'country').schema['default'] = 'CA';
    },
  ],
  [
    'another default of a body',
    /knowledge-bases\/\{kbId\}\/search body\/limit: The default became 20 and was 10/,
    (d) => {
      field(d, 'SearchKnowledgeBase', 'limit')['default'] = 20;
    },
  ],
  [
    'a default of a body where there was none',
    /api-keys body\/expiresAt: The default became/,
    (d) => {
      field(d, 'CreateApiKey', 'expiresAt')['default'] = '2030-01-01T00:00:00.000Z';
    },
  ],
  [
    'a field that has to be sent',
    /became required: `description`/,
    (d) => schema(d, 'CreateNumberPool').required.push('description'),
  ],
  [
    'a field of a body less',
    /`reason` of `AddDoNotCall` was removed/,
    (d) => delete schema(d, 'AddDoNotCall').properties['reason'],
  ],
  [
    'another type in a body',
    /`converted` narrowed from 'boolean' to 'string'/,
    (d) => {
      schema(d, 'CallConverted')['type'] = 'string';
    },
  ],
  [
    'a value less in a body',
    /`BuyProvider` lost values: 'twilio'/,
    (d) => lacks(schema(d, 'BuyProvider').enum, 'twilio'),
  ],
  [
    'a shorter text in a body',
    /search body\/query: maxLength fell from 1000 to 500/,
    (d) => {
      field(d, 'SearchKnowledgeBase', 'query')['maxLength'] = 500;
    },
  ],
  [
    'a longer text at least',
    /search body\/query: minLength rose from 1 to 2/,
    (d) => {
      field(d, 'SearchKnowledgeBase', 'query')['minLength'] = 2;
    },
  ],
  [
    'a pattern in a body',
    /search body\/query: pattern was added/,
    (d) => {
      field(d, 'SearchKnowledgeBase', 'query')['pattern'] = '\\S';
    },
  ],
  [
    'a pattern in a parameter',
    /available-phone-numbers query areaCode: pattern was changed/,
    (d) => {
      parameter(d, '/telephony/available-phone-numbers', 'areaCode').schema['pattern'] = '^[0-9]{3}$';
    },
  ],
  [
    'a smaller number in a body',
    /number-pools body\/maxCallsPerNumberPerDay: maximum fell/,
    (d) => {
      field(d, 'CreateNumberPool', 'maxCallsPerNumberPerDay')['maximum'] = 10;
    },
  ],
  [
    'a larger number at least',
    /number-pools body\/maxConcurrentPerNumber: minimum rose/,
    (d) => {
      field(d, 'CreateNumberPool', 'maxConcurrentPerNumber')['minimum'] = 2;
    },
  ],
  [
    'a shorter list in a body',
    /wake body\/concurrencyKeys: maxItems fell from 500 to 100/,
    (d) => {
      field(d, 'WakeWorkflowRuns', 'concurrencyKeys')['maxItems'] = 100;
    },
  ],
  [
    'a longer list at least',
    /wake body\/concurrencyKeys: minItems rose from 1 to 2/,
    (d) => {
      field(d, 'WakeWorkflowRuns', 'concurrencyKeys')['minItems'] = 2;
    },
  ],
  [
    'fields that exclude each other',
    /webhooks body: url excludes description/,
    (d) => {
      schema(d, 'CreateWebhook')['x-excludes'] = { url: ['description'] };
    },
  ],
  [
    'a body that has to be sent',
    /preview\/post\/requestBody: Request body became required/,
    (d) => {
      operation(d, 'post', '/calls/campaigns/{id}/preview').requestBody.required = true;
    },
  ],
  [
    'another kind of content in a body',
    /number-pools~1\{id\}~1members~1move\/post\/requestBody.*removed/,
    (d) => {
      const { content } = operation(d, 'post', '/number-pools/{id}/members/move').requestBody;
      content['text/plain'] = content['application/json'];
      delete content['application/json'];
    },
  ],
];

/** What may change: answers say more, requests ask for less. */
export const GROWTH: ((document: Editable) => unknown)[] = [
  (d) => schema(d, 'ContactListUploadFailureCode').enum.push('too_dull'),
  (d) => Object.assign(schema(d, 'KnowledgeBase').properties, { language: { type: 'string' } }),
  (d) => Object.assign(field(d, 'SearchKnowledgeBase', 'query'), { maxLength: 2000, minLength: 0 }),
  (d) => lacks(schema(d, 'CreateWebhook').required, 'eventTypes'),
  (d) => operation(d, 'post', '/calls/{roomId}/end').responses['409']!['x-error-codes'].push('invalid_state'),
];
