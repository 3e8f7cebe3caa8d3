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
    expect(await docs.faultsOf(COLOURED)).toEqual([]);
  },
);

test.skipIf(!hasChromium)(
  'a guide is searched by keys, its menu opens, its code is copied and shown in one way of several (needs chromium)',
  async () => {
    const page = await docs.browser.page();
    await page.size(390, 850);
    await page.open(`${docs.origin}/docs/guides/get-started`);
    const asked = (words: string) => `new Promise((resolve) => {
      const said = document.querySelector('.found p');
      new MutationObserver(() => resolve([said.textContent, [...document.querySelectorAll('.found a')].map((link) =>
        [link.href, link.textContent])])).observe(said, { childList: true });
      const input = document.querySelector('input');
      input.value = ${JSON.stringify(words)};
      input.dispatchEvent(new Event('input'));
    })`;
    const [, found] = await page.run<[string, [string, string][]]>(asked('How do I start a campaign?'));
    const links = found.map(([href]) => href);
    expect(links).toContain(`${docs.origin}/docs#/campaigns/startcampaign`);
    expect(links.some((href) => href.startsWith(`${docs.origin}/docs/guides/campaigns`))).toBe(true);
    for (const [, text] of found) expect(text.length).toBeGreaterThan(40);
    const keys = `for (const key of ['ArrowDown', 'ArrowDown'])
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))`;
    expect(await page.run(`document.querySelector('input').focus(); ${keys}; document.activeElement.href`)).toBe(
      links[1],
    );
    const [nothing, none] = await page.run<[string, unknown[]]>(asked('xylophone'));
    expect(nothing).toContain('Nothing is found for “xylophone”');
    expect(none).toEqual([]);

    const opened = `document.querySelector('button.menu').click();
      document.querySelector('#pages a').getBoundingClientRect().top`;
    expect(await page.run(opened)).toBeLessThan(200);
    const ways = `[...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent === 'Command line').click();
      [...document.querySelectorAll('.ways')].map((set) => [...set.querySelectorAll('section')].map(({ hidden }) => hidden))`;
    expect((await page.run<boolean[][]>(ways))[0]).toEqual([true, true, false]);
    const copied = `new Promise((resolve) => {
      Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => resolve(text) } });
      document.querySelector('.copy').click();
    })`;
    expect(await page.run(copied)).toMatch(/^git clone /);
    expect(page.told().errors).toEqual([]);
  },
);
