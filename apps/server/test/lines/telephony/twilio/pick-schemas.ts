/** An OpenAPI document of Twilio's, as far as it is read here. */
export interface TwilioDocument {
  paths: Record<
    string,
    Record<string, { parameters?: Parameter[]; requestBody?: Body; responses: Record<string, Body> }>
  >;
  components: { schemas: Record<string, unknown> };
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: unknown;
}
interface Body {
  content?: Record<string, { schema: unknown }>;
}

/** What a double judges by: each operation with JSON Schemas of its query, its form and its answers. */
export interface PickedApi {
  origin: string;
  operations: Record<string, { query: unknown; form?: unknown; answers: Record<string, unknown> }>;
  schemas: Record<string, unknown>;
}

/** The operations that the adapter uses, by the document that describes them. */
export const used: Record<string, string[]> = {
  twilio_api_v2010: [
    'get /2010-04-01/Accounts/{Sid}.json',
    'get /2010-04-01/Accounts/{AccountSid}/AvailablePhoneNumbers/{CountryCode}/Local.json',
    'get /2010-04-01/Accounts/{AccountSid}/AvailablePhoneNumbers/{CountryCode}/Mobile.json',
    'get /2010-04-01/Accounts/{AccountSid}/AvailablePhoneNumbers/{CountryCode}/TollFree.json',
    'get /2010-04-01/Accounts/{AccountSid}/IncomingPhoneNumbers.json',
    'post /2010-04-01/Accounts/{AccountSid}/IncomingPhoneNumbers.json',
    'get /2010-04-01/Accounts/{AccountSid}/IncomingPhoneNumbers/{Sid}.json',
    'delete /2010-04-01/Accounts/{AccountSid}/IncomingPhoneNumbers/{Sid}.json',
    'get /2010-04-01/Accounts/{AccountSid}/SIP/CredentialLists.json',
    'post /2010-04-01/Accounts/{AccountSid}/SIP/CredentialLists.json',
    'delete /2010-04-01/Accounts/{AccountSid}/SIP/CredentialLists/{Sid}.json',
    'get /2010-04-01/Accounts/{AccountSid}/SIP/CredentialLists/{CredentialListSid}/Credentials.json',
    'post /2010-04-01/Accounts/{AccountSid}/SIP/CredentialLists/{CredentialListSid}/Credentials.json',
    'post /2010-04-01/Accounts/{AccountSid}/SIP/CredentialLists/{CredentialListSid}/Credentials/{Sid}.json',
  ],
  twilio_trunking_v1: [
    'get /v1/Trunks',
    'post /v1/Trunks',
    'post /v1/Trunks/{Sid}',
    'delete /v1/Trunks/{Sid}',
    'get /v1/Trunks/{TrunkSid}/OriginationUrls',
    'post /v1/Trunks/{TrunkSid}/OriginationUrls',
    'delete /v1/Trunks/{TrunkSid}/OriginationUrls/{Sid}',
    'get /v1/Trunks/{TrunkSid}/CredentialLists',
    'post /v1/Trunks/{TrunkSid}/CredentialLists',
    'get /v1/Trunks/{TrunkSid}/PhoneNumbers',
    'post /v1/Trunks/{TrunkSid}/PhoneNumbers',
    'delete /v1/Trunks/{TrunkSid}/PhoneNumbers/{Sid}',
  ],
  twilio_pricing_v1: ['get /v1/PhoneNumbers/Countries/{IsoCountry}'],
};

/** The schemas of the operations that are used, closed: a name that Twilio doesn't describe is a fault. */
export function pickSchemas(origin: string, read: (document: string) => TwilioDocument): PickedApi {
  const picked: PickedApi = { origin, operations: {}, schemas: {} };
  for (const [document, operations] of Object.entries(used)) {
    const { paths, components } = read(document);
    const take = (schema: unknown): unknown => {
      const closed = closedSchema(schema);
      for (const [, name = ''] of JSON.stringify(closed ?? null).matchAll(/"#\/schemas\/([^"]+)"/g)) {
        if (picked.schemas[name] !== undefined) continue;
        picked.schemas[name] = true;
        picked.schemas[name] = take(components.schemas[name]);
      }
      return closed;
    };
    for (const operation of operations) {
      const [verb = '', path = ''] = operation.split(' ');
      const found = paths[path]?.[verb];
      if (!found) throw new Error(`${document} has no ${operation}`);
      const query = (found.parameters ?? []).filter((parameter) => parameter.in === 'query');
      const form = found.requestBody?.content?.['application/x-www-form-urlencoded']?.schema;
      const answers = Object.entries(found.responses).map(([status, { content }]) => [
        status,
        take(content?.['application/json']?.schema) ?? false,
      ]);
      picked.operations[operation] = {
        query: take({
          type: 'object',
          properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
        }),
        ...(form !== undefined && { form: take(form) }),
        answers: Object.fromEntries(answers),
      };
    }
  }
  return picked;
}

/** Formats are left out: those of Twilio's own that matter are patterns too. */
const KEPT = ['type', 'enum', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'required'];

/** OpenAPI 3.0's dialect as JSON Schema: `nullable` as a type, objects without fields of their own closed, texts left out. */
function closedSchema(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const from = schema as Record<string, unknown>;
  if (typeof from['$ref'] === 'string') return { $ref: from['$ref'].replace('#/components/schemas/', '#/schemas/') };
  const to: Record<string, unknown> = {};
  for (const name of KEPT) if (from[name] !== undefined) to[name] = from[name];
  if (from['nullable'] === true && from['type'] !== undefined) {
    to['type'] = [from['type'], 'null'];
    if (Array.isArray(from['enum'])) to['enum'] = [...from['enum'], null];
  }
  if (from['items'] !== undefined) to['items'] = closedSchema(from['items']);
  if (from['properties'] !== undefined) {
    const properties = Object.entries(from['properties'] as object);
    to['properties'] = Object.fromEntries(properties.map(([name, each]) => [name, closedSchema(each)]));
    to['additionalProperties'] = false;
  }
  return to;
}
