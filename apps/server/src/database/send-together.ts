import type pg from 'pg';

/**
 * Has what a connection is asked in this turn of the event loop go out in one write, which costs more than all else
 * about a query.
 */
export function sendTogether(client: pg.ClientBase): void {
  const { stream } = (client as pg.Client).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}
