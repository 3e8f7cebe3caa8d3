import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '@trunkline/server/foundation/http/answer';
import { type ContractDocument, type Operation, resolve } from '@trunkline/server/foundation/http/contract';
import { allowOrigins } from '@trunkline/server/foundation/http/cross-origin';
import { createEdge } from '@trunkline/server/foundation/http/edge';
import type { FilePart, Handlers, OperationId } from '@trunkline/server/foundation/http/handler';
import { faultAt, markedPlaces } from '@trunkline/server/foundation/http/request-fault';
import { createValidator } from '@trunkline/server/foundation/http/validator';
import { forValidator } from '@trunkline/server/foundation/http/validator-contract';
import { createAnswers } from './answers.ts';
import { examplesOf } from './contract.ts';
import { framesAfter, framesOf, play } from './event-frames.ts';
import { readPrefer, whyNoAnswer } from './forced-answer.ts';
import type { ForcedAnswer, SeenRequest } from './mock.ts';
import { refuseContradictions } from './refuse-contradictions.ts';

/** One request on its way through the edge, which tells handlers only what the contract declares. */
interface Passing {
  request: IncomingMessage;
  seen: SeenRequest;
}

interface Input {
  headers: Record<string, string | undefined>;
  body: unknown;
}

const OBJECTS = 'https://calls.example.com/objects/';

/** Any key is good for everything. */
const anybody = { keyId: 'mock', hash: 'mock', workspaceId: 'mock', permissions: ['*'] };

/**
 * The server's own edge, with the contract's examples as its answers. So a request is refused here for what it is refused
 * for there, by the same code: what a validator of another kind makes of formats, of unknown parameters and fields, of
 * items that are judged one by one, or of `utm_` needs no mending.
 *
 * @param forced what to answer operations by, unless the request says it
 */
export async function createMockEdge(
  contract: ContractDocument,
  forced: ReadonlyMap<OperationId, ForcedAnswer>,
  draining: AbortSignal,
) {
  const document = forValidator(contract);
  const [answer, validator] = await Promise.all([createAnswers(contract), createValidator(document)]);
  const passing = new AsyncLocalStorage<Passing>();

  const handlerOf = (operation: Operation) => async (input: Input) => {
    const { request } = passing.getStore()!;
    refuseContradictions(operation.id, input);
    const preferred = readPrefer(request.headers['prefer'] as string | undefined);
    const fault = preferred && whyNoAnswer(contract, operation, preferred);
    if (fault) throw faultAt('/headers/Prefer', `must ask for what there is: ${fault}`);
    const wanted = preferred ?? forced.get(operation.id) ?? {};
    if (operation.body?.types.includes('multipart/form-data'))
      await readFiles(input.body as AsyncIterable<FilePart>, operation.id === 'createSound' ? 'file' : 'files');
    if (operation.streams && (wanted.status ?? 200) === 200) {
      const told = streamed(contract, operation, wanted, input.headers['Last-Event-ID']);
      return told.length > 0 ? { status: 200, stream: play(told) } : { status: 204 };
    }
    return withOwnUrls(await answer(operation, wanted), request);
  };

  const edge = createEdge({
    validator,
    marked: (operation) => markedPlaces(operation, (schema) => resolve(document, schema)),
    handlers: Object.fromEntries(validator.operations.map((each) => [each.id, handlerOf(each)])) as Partial<Handlers>,
    authenticate: () => anybody,
    authenticateSession: () => ({ ...anybody, sessionId: 'mock' }),
    authenticateOperator: () => ({ ...anybody, permissions: ['operator'] }),
    openStream: () => () => anybody,
    publicUrl: 'http://localhost',
    rateLimit: () => 0,
    streams: { total: 0, underWay: () => 0, enter: () => () => undefined, inTurn: (_workspaceId, open) => open() },
    trustProxy: false,
    onAnswer: (operationId) => {
      const passed = passing.getStore();
      // A stream that its client has left ends outside its request.
      if (passed) passed.seen.operationId = operationId;
    },
    metrics: {
      ...{ answered: () => undefined, violation: () => undefined },
      ...{ streamOpened: () => undefined, streamEnded: () => undefined },
    },
    log: {
      error: (fields: object, message: string) => console.error(message, fields),
      isLevelEnabled: () => false,
    } as never,
    validateResponses: 'off',
    draining,
  });
  return {
    operations: validator.operations,
    /** Answers a request; scripts of every origin may. */
    handle(request: IncomingMessage, response: ServerResponse, seen: SeenRequest): void {
      const { origin } = request.headers;
      const listener = allowOrigins(origin === undefined ? [] : [origin], edge);
      passing.run({ request, seen }, () => listener(request, response));
    },
  };
}

function streamed(contract: ContractDocument, operation: Operation, { example }: ForcedAnswer, lastEventId?: string) {
  const examples = examplesOf(contract, operation, 200) as Map<string, string>;
  const shown = example === undefined ? [...examples.values()] : [examples.get(example)!];
  return framesAfter(shown.map(framesOf), lastEventId);
}

/** Files are looked at as they are read: a part that is none is refused then, and so is a body without any. */
async function readFiles(files: AsyncIterable<FilePart>, part: 'file' | 'files'): Promise<void> {
  let count = 0;
  for await (const { name, content } of files) {
    if (name !== part) throw faultAt(`/body/${part}`, `must come as a part named ${part}`);
    for await (const _ of content);
    count += 1;
  }
  if (count === 0) throw faultAt(`/body/${part}`, 'must hold a file');
}

/** Files that the contract's server takes and gives are taken and given here. */
function withOwnUrls(answer: Answer, { headers }: IncomingMessage): Answer {
  if (answer.body === undefined) return answer;
  const text = JSON.stringify(answer.body).replaceAll(OBJECTS, `http://${headers.host}/objects/`);
  return { ...answer, body: JSON.parse(text) };
}
