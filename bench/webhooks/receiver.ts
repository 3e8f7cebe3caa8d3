// A webhook endpoint that takes everything, at once or after a while.
import { createServer } from 'node:http';
import { serve, settingsOf } from '../child.ts';

const { answerAfterMs } = settingsOf<{ answerAfterMs: number }>();

await serve(
  createServer((request, response) => {
    const answer = () => response.writeHead(204).end();
    request.resume().on('end', () => (answerAfterMs > 0 ? setTimeout(answer, answerAfterMs) : answer()));
  }),
);
