import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PARTS } from '../../../../../openapi/guides/pages.ts';
import { type Page, startBrowser } from '../../../../../openapi/test/browser.ts';
import { startTestServer } from '../../server.ts';

/** Where the guides are. */
export const GUIDES = Object.values(PARTS)
  .flat()
  .map((name) => `/docs/guides/${name}`);
/** Where the reference is, and an operation of it. */
export const REFERENCE = ['/', '/docs#/campaigns/createcampaign'];

/** Guides have one style sheet: these have all that it colours. */
export const COLOURED = ['get-started', 'errors', 'webhooks'].map((name) => `/docs/guides/${name}`);

/** What breaks one of axe's rules now, a line each. */
const broken = (page: Page, options: object) =>
  page.run<string[]>(`axe.run(${JSON.stringify({ resultTypes: ['violations'], ...options })}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join(' '))))`);

/** Starts a server and a browser that looks at its docs. */
export async function startLooking() {
  const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const [server, browser] = await Promise.all([startTestServer(), startBrowser()]);
  const origin = server.url;

  /** What is wrong with a page: wide and light, then narrow and dark. */
  async function faultsAt(page: Page, address: string): Promise<string[]> {
    await page.open('about:blank');
    page.told();
    await page.size(1400, 900);
    await page.open(origin + address);
    await page.run(axe);
    const faults: string[] = [];
    for (const { width, dark, options } of [
      { width: 1400, dark: false, options: { runOnly: ['color-contrast'] } },
      { width: 390, dark: true, options: {} },
    ]) {
      await page.size(width, 850, dark);
      await settled(page);
      faults.push(...(await broken(page, options)));
      const needed = await page.run<number>('document.documentElement.scrollWidth');
      if (needed > width) faults.push(`It needs ${needed} pixels, of ${width}.`);
    }
    const { errors, asked } = page.told();
    const elsewhere = asked.filter((url) => !url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url));
    return [...faults, ...errors, ...elsewhere].map((fault) => `${address}: ${fault}`);
  }

  /** The same of several, two at a time. */
  async function faultsOf(addresses: string[]): Promise<string[]> {
    const left = addresses.values();
    const faults: string[] = [];
    const look = async () => {
      const page = await browser.page();
      for (const address of left) faults.push(...(await faultsAt(page, address)));
    };
    await Promise.all([look(), look()]);
    return faults;
  }

  return {
    origin,
    browser,
    faultsOf,
    stop: async () => {
      await browser.stop();
      await server.stop();
    },
  };
}

/** Redoc makes its search index when there is time, or once it is pointed at: until then the search says that it loads. */
const settled = (page: Page) =>
  page.run(`new Promise((resolve) => {
    const look = () => {
      const search = document.querySelector('[data-testid=search-trigger]');
      if (!search?.textContent.includes('Loading...')) return resolve();
      search.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
      setTimeout(look, 200);
    };
    look();
  })`);
