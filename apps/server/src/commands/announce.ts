import path from 'node:path';
import type { Config } from '../config.ts';
import type { RunningServer } from '../server.ts';

/** How this program is called: from a clone's sources by npm, else by its name. */
export const COMMAND = import.meta.filename.endsWith('.ts') ? 'npm start --' : 'trunkline-server';

const print = (text: string) => void process.stdout.write(text);

/** Says where the server is: to a person, or, where nobody looks on, as one line of JSON. */
export function announce({ url, firstKey }: RunningServer): void {
  const [docsUrl, consoleUrl] = [`${url}/docs`, `${url}/console`];
  if (!process.stdout.isTTY) {
    print(`${JSON.stringify({ url, docsUrl, consoleUrl, ...(firstKey && { apiKey: firstKey }) })}\n`);
    return;
  }
  print(`\n  Trunkline is ready.\n\n  Console  ${consoleUrl}\n  API      ${url}/v1\n  Docs     ${docsUrl}\n`);
  if (firstKey) print(`  Key      ${firstKey}\n           Shown this once. More: ${COMMAND} keys create\n`);
  print('\n  Ctrl-C stops it.\n\n');
}

/** Tells a person what goes on when the server has stopped, and how to end it. */
export function sayGoodbye({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl || !process.stdout.isTTY) return;
  const settings = dataDir === path.resolve('.data') ? '' : `DATA_DIR=${dataDir} `;
  print(`\n  Stopped. The database goes on. This ends it too:\n  ${settings}${COMMAND} stop\n\n`);
}
