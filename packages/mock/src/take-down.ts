import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SeenRequest } from './mock.ts';

/**
 * Takes a request down. The edge reads JSON from the first byte on, as this does; of a form it reads the files later, and
 * would miss what was read here.
 */
export function takeDown(request: IncomingMessage, response: ServerResponse): SeenRequest {
  const seen: SeenRequest = {
    method: request.method!,
    path: request.url!,
    headers: request.headers,
    body: undefined,
  };
  const chunks: Buffer[] = [];
  if (!isForm(request)) request.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.once('close', () => {
    seen.status = response.statusCode;
    seen.body = parsed(Buffer.concat(chunks).toString());
  });
  return seen;
}

const isForm = ({ headers }: IncomingMessage) => headers['content-type']?.startsWith('multipart/form-data');

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
