import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasChromium } from '../../../../../openapi/test/browser.ts';
import { COLOURED, startLooking } from './docs-pages.ts';

let docs: Awaited<ReturnType<typeof startLooking>>;
beforeAll(async () => {
  if (hasChromium) docs = await startLooking();
});
afterAll(() => docs?.stop());

test.skipIf(!hasChromium)(
  'three guides, which have all that their style sheet knows, can be read by all, wide and narrow, light and dark (needs chromium)',
  async () => {
    expect(await docs.faultsOf(COLOURED, { inColour: true, leftOut: [] })).toEqual([]);
  },
);

test.skipIf(!hasChromium)('the search leads to a page of the guides and to an operation (needs chromium)', async () => {
  const page = await docs.browser.page();
  await page.open(`${docs.origin}/docs/guides/get-started`);
  const found = await page.run<string[]>(`new Promise((resolve) => {
    const input = document.querySelector('input');
    new MutationObserver(() => resolve([...document.querySelectorAll('#found a')].map((link) => link.href)))
      .observe(document.querySelector('#found'), { childList: true });
    input.value = 'How do I start a campaign?';
    input.dispatchEvent(new Event('input'));
  })`);
  expect(found).toContain(`${docs.origin}/docs#/campaigns/startcampaign`);
  expect(found.some((href) => href.startsWith(`${docs.origin}/docs/guides/campaigns`))).toBe(true);
});
