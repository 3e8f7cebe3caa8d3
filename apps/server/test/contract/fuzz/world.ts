import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { buildWorld } from '../world.ts';
import { oddFiles } from './edges.ts';
import { createMade } from './made.ts';
import { OPERATOR_KEY, prepare } from './prepared.ts';
import type { FuzzRequest } from './requests.ts';
import { type Answered, asCommand, createSender } from './send.ts';

const NUMBERS = ['+14155550200', '+14155550201'];
const TO: [string, string] = ['+14155550100', '+14155550117'];
/** A server that is too busy says so; it is asked again so often, and after so long, as it says. */
const MOST_TRIES = 10;
const RETRY_AFTER_MS = 1000;
/** The examples of the contract lie after this time. */
const BEGIN = '2026-11-20T09:00:00.000Z';
/** After so many requests business time jumps: windows, retries, waits and what is kept for days come to their ends. */
const JUMP_EVERY = 500;
const JUMP_MS = 10_000_000;

/**
 * What the server logs where a value is at fault, of PostgreSQL or of JavaScript: such a job fails for ever. Work that is
 * done again because the machine was slow is no fault.
 */
const WRONG =
  /"code":"(?:22|23|42|XX)\w{3}"|"type":"(?:Type|Range|Reference|Syntax|Assertion)Error"|breaks the contract/;

/** A request as it went out, and what came of each of its copies. */
export interface Asked {
  sent: FuzzRequest;
  answers: Answered[];
}

/** A whole server with something of every kind, which can be asked as a request of the fuzzer says. */
export async function startFuzzedServer(connections: number) {
  const errors: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void (WRONG.test(line) && errors.push(line)) });
  // What others must test is not to be taken for tested because it came up here.
  const server = await startTestServer({
    config: { simulatorSpeed: 5, operatorKey: OPERATOR_KEY },
    log,
    onAnswer: () => undefined,
    // Nothing is asked of the real one.
    sendToProviders: async () => ({ status: 200, headers: {}, body: Buffer.from('{"status":"active"}') }),
  });
  server.clock.set(BEGIN);
  const { data } = await server.client.GET('/v1/api-keys');
  const untouchable = new Set<string>(data!.data.items.map(({ id }) => id));
  const [world, foreign] = await Promise.all([
    buildWorld(server, { from: NUMBERS[0]!, to: TO }),
    anothersWorld(server),
  ]);
  const made = createMade(NUMBERS, untouchable, foreign.idOf);
  const bought = await server.client.POST('/v1/telephony/phone-numbers/buy', {
    body: { phoneNumber: NUMBERS[1]!, provider: 'simulator' },
  });
  // Without a number that calls, nothing would.
  for (const id of [world.idOf.get('pn')!, bought.data!.id]) untouchable.add(id);
  for (const id of world.idOf.values()) made.note('', id);
  const prepared = await prepare(server);
  for (const id of prepared.kept) untouchable.add(id);
  const sender = createSender(server.url, server.apiKey, connections);

  const send = async (request: FuzzRequest, tries = 1): Promise<Answered[]> => {
    const answers = await sender.send(request).catch(noAnswer);
    if (tries === MOST_TRIES || answers.every(({ status }) => status !== 503)) return answers;
    await sleep(RETRY_AFTER_MS);
    return send(request, tries + 1);
  };
  let asked = 0;
  return {
    /** What the server logged that is wrong, whoever asked for it. */
    errors,
    show: (request: FuzzRequest) => asCommand(server, request),
    /** Sends a request, and takes up what it has made. */
    ask: async (request: FuzzRequest): Promise<Asked> => {
      asked += 1;
      if (asked % JUMP_EVERY === 0) server.clock.advance(JUMP_MS);
      const sent = made.fill(prepared.fill(request));
      const answers = (await Promise.all(Array.from({ length: sent.copies }, () => send(sent)))).flat();
      const succeeded = answers.filter(({ status }) => status < 300);
      const isDelete = sent.method === 'DELETE';
      if (isDelete && (sent.harm || succeeded.length > 0)) made.forget(sent.path);
      for (const { text } of isDelete ? [] : succeeded) {
        made.note(sent.path, text);
        if (!sent.harm && text.includes('"uploadUrl"')) answers.push(...(await upload(text, sent.file)));
      }
      return { sent, answers };
    },
    stop: async () => {
      sender.close();
      await server.stop();
    },
  };
}

async function anothersWorld(server: TestServer) {
  const apiKey = await keyWith(server, { permissions: ['*'], workspace: 'Another' });
  const another = { ...server, apiKey, client: server.clientOf(apiKey) };
  return buildWorld(another, { from: '+14155550202', to: TO });
}

const noAnswer = (error: Error): Answered[] => [
  { status: 599, type: '', requestId: undefined, text: `No answer: ${error.message}` },
];

/** Of so many files one is sent: each is read by a thread of its own. */
const FILE_EVERY = 8;

/** A contact list waits for its file. Every other one is as people have them. */
async function upload(text: string, turn: number): Promise<Answered[]> {
  const answer = JSON.parse(text);
  const { uploadUrl, uploadHeaders } = answer.data ?? answer;
  if (!uploadUrl || turn % FILE_EVERY !== 0) return [];
  const which = turn / FILE_EVERY;
  const body = which % 2 === 0 ? oddFiles[0]! : oddFiles[(which >> 1) % oddFiles.length]!;
  const stored = await fetch(uploadUrl, { method: 'PUT', headers: uploadHeaders, body });
  const said = await stored.text();
  const requestId = stored.headers.get('x-request-id') ?? undefined;
  return stored.status < 500 ? [] : [{ status: stored.status, type: '', text: said, requestId }];
}
