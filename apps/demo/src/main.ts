import { constants } from 'node:os';
import { TrunklineError } from '@trunkline/client';
import { DemoError, type DemoOptions, readOptions, USAGE } from './options.ts';
import { openTalk, runDemo } from './run-demo.ts';
import { createScreen, type Screen } from './screen.ts';
import { startServerProcess } from './server-process.ts';
import { sipSettings } from './sip-line.ts';
import type { DemoResult } from './summary.ts';

/** A simulated minute takes a second. */
const SPEED = 60;

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** The first signal that asks this process to end; the ones after it wait for the tidying up. */
const interrupted = new Promise<Signal>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, resolve);
});

function what({ sip, talk }: DemoOptions): string {
  if (sip) return 'calls over SIP and RTP on this machine';
  return talk ? 'talk to an agent' : `simulated calls, at ${SPEED} times real speed`;
}

/** Shows the demo. Leaves nothing running and nothing behind, however it ends. Returns the exit code. */
async function show(screen: Screen, options: DemoOptions): Promise<number> {
  screen.text(`\n  ${screen.bold('Trunkline demo')}: ${what(options)}\n`);
  const sip = options.sip ? sipSettings() : undefined;
  const server = await startServerProcess(SPEED, sip?.settings);
  const over = new AbortController();
  let ended: DemoResult | Signal | undefined;
  try {
    const shown = { screen, options, signal: over.signal, calleePorts: sip?.calleePorts };
    if (sip || !options.talk) ended = await Promise.race([runDemo(server, shown), interrupted, server.lost]);
    if (options.talk && typeof ended !== 'string') {
      const talking = openTalk(server, shown).then(() => interrupted);
      ended = await Promise.race([talking, interrupted, server.lost]);
    }
  } finally {
    screen.close();
    over.abort();
    await server.remove();
  }
  if (typeof ended === 'string') {
    screen.text('\n  Stopped. Nothing is left running.\n');
    return 128 + constants.signals[ended];
  }
  if (options.json) process.stdout.write(`${JSON.stringify(ended)}\n`);
  return 0;
}

/** What went wrong, and what to do next. */
function explain(error: unknown): string {
  if (error instanceof DemoError) return `${error.message}\n\nnpm run demo -- --help says what the demo takes.`;
  return `${describe(error)}\n\nRun it again. If it ends here again, please open an issue with the lines above.`;
}

function describe(error: unknown): string {
  if (!(error instanceof TrunklineError))
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const details = error.details.map(({ path, message }) => `\n  ${path}: ${message}`).join('');
  return `The server refused: ${error.message} (${error.status} ${error.code}, request ${error.requestId})${details}`;
}

try {
  const options = await readOptions(process.argv.slice(2));
  if (options) process.exitCode = await show(createScreen(options.json ? process.stderr : process.stdout), options);
  else process.stdout.write(USAGE);
} catch (error) {
  process.stderr.write(`\n${explain(error)}\n`);
  process.exitCode = 1;
}
