import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { fromId } from '../../src/foundation/values/ids.ts';
import { params, startCampaignServer } from '../dialing/campaigns/campaign-server.ts';
import { startServerProcess } from '../server-process.ts';
import { until } from '../until.ts';

test('a server frozen in the middle of eight requests for a campaign holds up no other for long', async () => {
  const healthy = await startCampaignServer();
  const id = await healthy.inState('start');
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-frozen-'));
  const { connectionString, apiKey } = healthy.server;
  const frozen = await startServerProcess({ DATABASE_URL: connectionString, DATA_DIR: dataDir });
  const holder = new pg.Client({ connectionString });
  await holder.connect();
  try {
    await holder.query("begin; select set_config('trunkline.engine', 'on', true)");
    await holder.query('select from campaigns where id = $1 for update', [fromId(id)]);
    const asked = Array.from({ length: 8 }, (_, at) =>
      fetch(`${frozen.url}/v1/calls/campaigns/${id}/${at % 2 ? 'resume' : 'pause'}`, {
        method: 'POST',
        headers: { 'X-API-Key': apiKey },
      }),
    );
    // One that pauses waits, with more than a second left before it begins to wait again.
    await until(async () => {
      const { rows } = await healthy.database.pool.query(`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query like '%paused_at%' and query_start > clock_timestamp() - interval '1 second'`);
      return rows.length > 0;
    });
    process.kill(frozen.pid, 'SIGSTOP');
    await holder.query('commit');
    // On a machine that stalls it may be told first to try again.
    await until(async () => {
      const { data, error } = await healthy.client.POST('/v1/calls/campaigns/{id}/stop', params(id));
      expect(error).toBeUndefined();
      expect(data!.data.status).toBe('stopped');
    });
    process.kill(frozen.pid, 'SIGCONT');
    const answers = await Promise.all(asked);
    for (const { status, headers } of answers.filter((answer) => answer.status !== 409)) {
      expect([status, headers.get('Retry-After')]).toEqual([503, '1']);
    }
    expect(answers.some(({ status }) => status === 503)).toBe(true);
  } finally {
    await holder.end();
    await frozen.kill();
    await healthy.stop();
    await rm(dataDir, { recursive: true });
  }
});
