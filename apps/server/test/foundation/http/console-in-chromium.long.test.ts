import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasChromium } from '../../../../../openapi/test/browser.ts';
import { statementOn } from '../database/statement-on.ts';
import { draftOf, type OpenConsole, openConsole } from './console-pages.ts';

const CALLS = 100_000;
/** What a person does not notice. */
const UNNOTICED_MS = 100;

let desk: OpenConsole;
let campaignId: string;
beforeAll(async () => {
  if (!hasChromium) return;
  desk = await openConsole();
  campaignId = await draftOf(desk, 'Many', 1000);
});
afterAll(() => desk?.stop());

/** From before the page's first script on. */
const OBSERVED = `window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });`;
/** Milliseconds of the page's tasks since the last look that a person notices: told, and not judged, as machines differ. */
const longTasks = (page: Page) =>
  page.evaluate<number[]>(`window.tasks.splice(0).filter((each) => each > ${UNNOTICED_MS})`);

test.skipIf(!hasChromium)(
  'a campaign is followed while events come by the dozen, and 100,000 calls scroll to the last (needs chromium)',
  async () => {
    const { page, context } = await desk.open({ viewport: { width: 1440, height: 900 } });
    await page.addInitScript(OBSERVED);
    await desk.signIn(context);
    await page.goto(`/console/campaigns/${campaignId}`);
    await page.getByText('A draft. It calls nobody').waitFor();
    const paint = `performance.getEntriesByName('first-contentful-paint')[0].startTime`;
    console.info('first paint, ms:', await page.evaluate<number>(paint));
    await desk.client.campaigns.update(campaignId, { maxConcurrency: 100 });
    await desk.client.campaigns.start(campaignId);
    await page.getByText('Done.').waitFor({ timeout: 120_000 });
    console.info('long tasks while a campaign runs, ms:', await longTasks(page));

    await statementOn(
      desk.connection,
      `set trunkline.engine = 'on';
      insert into calls select (jsonb_populate_record(one.c, jsonb_build_object('id', gen_random_uuid(), 'owner_id', gen_random_uuid(),
        'queued_at', (one.c).queued_at - i * interval '1 second'))).*
      from (select c from calls c limit 1) one, generate_series(1, ${CALLS}) i; analyze calls`,
    );
    await page.goto('/console/calls');
    await page.getByText('101,').first().waitFor();
    await page.mouse.move(700, 500);
    for (let turns = 0; turns < 100; turns += 1) {
      await page.mouse.wheel(0, turns % 10 === 9 ? 300_000 : 1200);
      await sleep(30);
    }
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await page.getByRole('row').last().getByRole('link').waitFor();
    // The page holds those that can be seen, and some before and after them.
    expect(await page.getByRole('row').count()).toBeLessThan(200);
    console.info('long tasks while 100,000 calls scroll, ms:', await longTasks(page));
    await context.close();
  },
);
