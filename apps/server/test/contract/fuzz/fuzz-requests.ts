import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadContract } from '../../../src/foundation/http/app.ts';
import { type FuzzedOperation, type FuzzRequest, fuzzedOperations } from './requests.ts';
import type { Answered } from './send.ts';
import { startFuzzedServer } from './world.ts';

/**
 * `FUZZ_REQUESTS=1000000 FUZZ_SEED=7` sends more, and others. `FUZZ_ONLY=7000123` sends the request of that number alone,
 * and shows it.
 */
const GIVEN_COUNT = process.env['FUZZ_REQUESTS'];
const SEED = Number(process.env['FUZZ_SEED'] ?? 14);
const ONLY = process.env['FUZZ_ONLY'];
/** The requests of a seed have numbers of their own. */
const NUMBERS_OF_SEED = 1_000_000;
const AT_ONCE = 16;
/** So many operations may have had no success, by chance: which answers come first is the machine's doing. */
const MOST_WITHOUT_SUCCESS = 3;
/** Among so many times as many requests those of the others are sent too, until they have had one. */
const MOST_TURNS = 8;
/** Enough to see what is wrong. */
const MOST_FAILURES = 5;
/** For each request, on a machine that has much else to do. */
const SLOWEST_MS = 30;
const SHRINK_MS = 20_000;

const operations = fuzzedOperations(loadContract());
/** What deletes comes seldom, so that there is something to ask for; and what starts a process for each file. */
const others = operations.filter(({ id, method }) => method !== 'DELETE' && id !== 'addKnowledgeBaseDocuments');
const turns = [...operations, ...others, ...others];
/** What may be answered to a request that comes to another operation, or to none. The server compares with its own. */
const anywhere = new Set([...operations.flatMap(({ statuses }) => [...statuses]), 405, 408, 414, 431]);

let server: Awaited<ReturnType<typeof startFuzzedServer>>;

/** What is wrong with an answer, if anything: a fault of the server, or what the contract doesn't name. */
function fault(
  { statuses }: FuzzedOperation,
  { isValid, method, harm }: FuzzRequest,
  { status, text, requestId }: Answered,
): string | undefined {
  const isRight = status < 500 && (isValid ? statuses : anywhere).has(status);
  const isTold =
    status < 400 || method === 'HEAD' || (harm && text === '') || /^\{"code":"\w+","error":".+\}$/s.test(text);
  return isRight && isTold && requestId ? undefined : `${status} ${text}`;
}

const operationOf = (number: number) => turns[number % turns.length]!;

/** The generator's seeds: those of neighbours would begin alike. */
const seedOf = (number: number) => Math.imul(number + 1, 0x9e3779b1);

const requestOf = (number: number): FuzzRequest =>
  fc.sample(fc.tuple(operationOf(number).requests), { seed: seedOf(number), numRuns: 1 })[0]![0];

/** The smallest request like that of a number which has a fault too, as a command for a shell. */
async function smallest(number: number): Promise<string | undefined> {
  const operation = operationOf(number);
  let last: string | undefined;
  const property = fc.asyncProperty(operation.requests, async (request) => {
    const { sent, answers } = await server.ask(request);
    if (answers.every((answer) => fault(operation, request, answer) === undefined)) return true;
    last = server.show(sent);
    return false;
  });
  await fc.check(property, { seed: seedOf(number), numRuns: 1, interruptAfterTimeLimit: SHRINK_MS });
  return last;
}

/** What right requests were answered, by their operation, as long as none of it has succeeded. */
function noteRefusals() {
  // There is no provider to sign in by.
  const tried = operations.filter(({ id }) => id !== 'startSignIn');
  const refusals = new Map(tried.map(({ id }) => [id, new Map<string, number>()]));
  return {
    note: ({ id }: FuzzedOperation, { status, text }: Answered) => {
      if (status < 300) refusals.delete(id);
      const own = refusals.get(id);
      const answer = `${status} ${text.replace(/"requestId":"\w+",/, '').slice(0, 300)}`;
      own?.set(answer, (own.get(answer) ?? 0) + 1);
    },
    has: ({ id }: FuzzedOperation) => refusals.has(id),
    all: () => [...refusals].map(([id, own]) => [id, ...own]),
  };
}

/** The test that so many requests are answered as the contract says, unless the environment says how many, or which. */
export function fuzzRequests(usually: number): void {
  beforeAll(async () => {
    server = await startFuzzedServer(AT_ONCE);
  });
  afterAll(() => server.stop());
  const count = Number(GIVEN_COUNT ?? usually);
  const name = `${count} requests, right, nearly right and hostile, are answered as the contract says`;
  const timeout = 120_000 + MOST_TURNS * count * SLOWEST_MS;
  if (ONLY === undefined) test(name, { timeout }, () => expectRightAnswers(count));
  else test(`request ${ONLY} is answered as the contract says`, again);
}

async function expectRightAnswers(count: number): Promise<void> {
  const failures: { only: string; sent: string; answer: string; smallest: string | undefined }[] = [];
  const refusals = noteRefusals();
  // Some succeed once in thousands of requests: by chance an operation may need more of its own.
  const places = (function* () {
    for (let at = 0; at < count; at += 1) yield at;
    for (let at = count; at < MOST_TURNS * count && refusals.all().length > MOST_WITHOUT_SUCCESS; at += 1)
      if (refusals.has(operationOf(SEED * NUMBERS_OF_SEED + at))) yield at;
  })();
  const ask = async () => {
    for (const at of places) {
      if (failures.length >= MOST_FAILURES) return;
      const number = SEED * NUMBERS_OF_SEED + at;
      const [operation, request] = [operationOf(number), requestOf(number)];
      const { sent, answers } = await server.ask(request);
      for (const answer of answers) if (request.isValid) refusals.note(operation, answer);
      const found = answers.map((answer) => fault(operation, request, answer)).find((each) => each !== undefined);
      if (!found) continue;
      const failure = { only: `FUZZ_ONLY=${number}`, sent: server.show(sent), answer: found };
      failures.push({ ...failure, smallest: await smallest(number) });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  const refused = refusals.all();
  expect({
    failures,
    errors: server.errors,
    refused: refused.length > MOST_WITHOUT_SUCCESS ? refused : [],
  }).toEqual({ failures: [], errors: [], refused: [] });
}

async function again(): Promise<void> {
  const request = requestOf(Number(ONLY));
  const { sent, answers } = await server.ask(request);
  console.log(server.show(sent), answers, server.errors);
  expect(answers.map((answer) => fault(operationOf(Number(ONLY)), request, answer))).toEqual(
    answers.map(() => undefined),
  );
}
