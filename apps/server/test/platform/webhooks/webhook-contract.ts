import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { loadContract } from '../../../src/foundation/http/app.ts';

interface Schema {
  properties: { type: { const?: string; enum?: string[]; $ref?: string } };
}
interface Contract {
  webhooks: Record<
    string,
    { post: { requestBody: { content: { 'application/json': { schema: { $ref: string } } } } } }
  >;
  components: { schemas: Record<string, Schema> };
}

const contract = loadContract() as unknown as Contract;
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(contract, 'contract');

const schemaAt = (ref: string) => contract.components.schemas[ref.split('/').at(-1)!]!;

/** What the contract calls an event, by its type. */
const schemas = new Map<string, string>(
  Object.values(contract.webhooks).flatMap(({ post }) => {
    const { $ref } = post.requestBody.content['application/json'].schema;
    const { const: one, enum: several, $ref: other } = schemaAt($ref).properties.type;
    const types = one ? [one] : (several ?? [(schemaAt(other!) as unknown as { const: string }).const]);
    return types.map((type): [string, string] => [type, $ref]);
  }),
);

/** Every type of event that the contract describes. */
export const describedTypes = [...schemas.keys()];

/** Where the body of an event breaks the contract; nothing where it holds it. */
export function breachesOf(body: string): string[] {
  const event = JSON.parse(body);
  const ref = schemas.get(event.type);
  if (!ref) return [`The contract describes no event of the type ${event.type}.`];
  const validate = ajv.getSchema(`contract${ref}`)!;
  validate(event);
  return (validate.errors ?? []).map((error) => `${event.type}${error.instancePath} ${error.message}`);
}
