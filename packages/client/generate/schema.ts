// Writes src/generated/schema.ts: the types of the published contract. `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString, COMMENT_HEADER, NEVER, STRING, tsIntersection, tsRecord } from 'openapi-typescript';

const contract = new URL('../../../openapi/dist/openapi.json', import.meta.url);
const target = new URL('../src/generated/schema.ts', import.meta.url);

/** `string & {}`: beside literals it takes any text, and editors still know the literals. */
const ANY_TEXT = tsIntersection([STRING, tsRecord(NEVER, NEVER)]);

/**
 * What a later version may bring. Beside the values of a closed list that is any text. A shape that isn't known yet has no
 * type, so that a look at a `type` still tells the others apart.
 */
const typeOfLater = (schema: { 'x-open'?: 'value' | 'shape' }) =>
  schema['x-open'] && { value: ANY_TEXT, shape: NEVER }[schema['x-open']];

const types = await openapiTS(contract, {
  defaultNonNullable: false,
  readWriteMarkers: true,
  transform: typeOfLater,
  silent: true,
});
// Its helpers would take a text that is also `{}` for an object.
const text = `${COMMENT_HEADER}${astToString(types)}`.replaceAll('T extends object ?', 'T extends string ? T : $&');
if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (readFileSync(target, 'utf8') !== text) {
  console.error('src/generated/schema.ts is not what the contract says. Run `npm run generate`.');
  process.exitCode = 1;
}
