import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CODES_BY_STATUS } from './rules/closed-lists.js';

// Writes docs/errors.md, which is made from the contract: `node build-pages.ts`, once it is bundled.

type Transitions = Record<string, string[]>;
interface Schema {
  description: string;
  enum?: string[];
  'x-transitions'?: Transitions;
  'x-help'?: Record<string, { why: string; do: string }>;
}

const NOTE = '<!-- Made by openapi/build-pages.ts. Change the contract, and run `npm run generate`. -->';

/** The page of errors and states, made from the schemas of the bundled contract. */
export const errorsAndStates = (schemas: Record<string, Schema>): string => `# Errors and states

${NOTE}

After this page you know why a request was refused, and what to do about it; and in which states each thing can be, and what may follow.

${errorsPart(schemas['ErrorCode']!)}

${statesPart(schemas)}
`;

function errorsPart({ enum: codes, 'x-help': help }: Schema): string {
  const entries = Object.entries(CODES_BY_STATUS).flatMap(([status, ofStatus]) =>
    ofStatus.map((code) => ({ status, code, ...help![code]! })),
  );
  if (entries.length !== codes!.length || entries.some(({ why }) => !why))
    throw new Error('Each code needs a status in rules/closed-lists.js, and a `why` and a `do` in `x-help`.');
  const sections = entries.map(
    ({ status, code, why, do: todo }) => `### ${code}\n\n${status}. ${why}\n\n**Do:** ${todo}`,
  );
  return `## Errors

Every error is \`{code, error}\`, with \`details\` if there is more to say. \`code\` is from this one list. New codes may come: treat an unknown one by its HTTP status. Which of them an operation can give stands with it in the reference.

| status | codes |
|---|---|
${Object.entries(CODES_BY_STATUS)
  .map(([status, ofStatus]) => `| ${status} | ${ofStatus.map((code) => `[\`${code}\`](#${code})`).join(', ')} |`)
  .join('\n')}

${sections.join('\n\n')}`;
}

function statesPart(schemas: Record<string, Schema>): string {
  const machines = Object.entries(schemas).filter(([, schema]) => schema['x-transitions']);
  const sections = machines.map(([name, { description, 'x-transitions': moves }]) => {
    const rows = Object.entries(moves!).map(
      ([from, to]) => `| \`${from}\` | ${to.map((each) => `\`${each}\``).join(', ')} |`,
    );
    return `### ${name}\n\n${description}\n\n${diagramOf(moves!)}\n\n| from | to |\n|---|---|\n${rows.join('\n')}`;
  });
  return `## States

The tables are the contract's (\`x-transitions\`), and the server moves by them.

${sections.join('\n\n')}`;
}

function diagramOf(moves: Transitions): string {
  const lines = Object.entries(moves).flatMap(([from, to]) =>
    to.length > 0 ? to.map((each) => `  ${from} --> ${each}`) : [`  ${from} --> [*]`],
  );
  return ['```mermaid', 'stateDiagram-v2', `  [*] --> ${Object.keys(moves)[0]}`, ...lines, '```'].join('\n');
}

if (import.meta.main) {
  const bundle = fileURLToPath(new URL('dist/closed.json', import.meta.url));
  const { components } = JSON.parse(readFileSync(bundle, 'utf8')) as {
    components: { schemas: Record<string, Schema> };
  };
  writeFileSync(new URL('../docs/errors.md', import.meta.url), errorsAndStates(components.schemas));
}
