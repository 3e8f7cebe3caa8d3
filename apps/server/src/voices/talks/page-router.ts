import express, { Router } from 'express';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const folder = new URL('page/', import.meta.url).pathname;

/** The page that talks to agents, and what it loads. A key stands in none of them. */
export function talkPage(): Router {
  const router = Router();
  const files = express.static(folder, {
    redirect: false,
    setHeaders: (response) =>
      response.setHeader('Content-Security-Policy', POLICY).setHeader('Cache-Control', 'no-cache'),
  });
  router.get('/talk', (request, response, next) => {
    request.url = '/index.html';
    files(request, response, next);
  });
  router.use('/talk', files);
  return router;
}
