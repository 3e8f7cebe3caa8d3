import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OperationId } from './mock.ts';

/** A request that the mock was sent. */
export interface SeenRequest {
  /** Nothing for a path or a method that the contract has not. */
  operationId?: OperationId;
  method: string;
  /** With its query. */
  path: string;
  headers: IncomingMessage['headers'];
  /** JSON as it was parsed, and anything else as text. */
  body: unknown;
  /** Once it is answered. */
  status?: number;
}

/** Takes a request down, without taking its body from who reads it after. */
export function takeDown(request: IncomingMessage, response: ServerResponse): SeenRequest {
  const seen: SeenRequest = {
    method: request.method!,
    path: request.url!,
    headers: request.headers,
    body: undefined,
  };
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.once('close', () => {
    seen.status = response.statusCode;
    seen.body = parsed(Buffer.concat(chunks).toString());
  });
  return seen;
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
