// A webhook endpoint that takes everything.
import { createServer } from 'node:http';
import { serve } from './child.ts';

await serve(
  createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  }),
);
