#!/usr/bin/env node
import { parseArgs } from 'node:util';

const USAGE = `Usage: trunkline-mock [--port 4010] [--host 127.0.0.1]

Answers as a Trunkline server does, with the examples of its contract. Takes any X-API-Key.
`;

const told = (url: string) => `The Trunkline mock listens on ${url}, and takes any X-API-Key.

  Try it             curl -H 'X-API-Key: tl_mock' ${url}/v1/calls
  Another status     … -H 'Prefer: code=404'
  Another example    … -H 'Prefer: code=200, example=NAME'   (a wrong name is told which there are)
  A webhook, signed  curl ${url}/_mock/webhooks -d '{"type": "call.ended", "url": "http://localhost:3000", "secret": "whsec_c2VjcmV0"}'

Ctrl-C ends it.
`;

try {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4010' },
      host: { type: 'string', default: '127.0.0.1' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) process.stdout.write(USAGE);
  else await run(values);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function run({ port, host }: { port: string; host: string }): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new Error('--port must be a number from 0 to 65535.');
  // To load it takes a second, which a word about a wrong option need not wait for.
  const { startMock } = await import('./index.ts');
  const { url } = await startMock({
    port: Number(port),
    host,
    onRequest: ({ method, path, status }) => process.stdout.write(`${method} ${path} ${status}\n`),
  });
  process.stdout.write(told(url));
}
