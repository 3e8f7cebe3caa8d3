import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasChromium } from '../../../../../openapi/test/browser.ts';
import { rolePermissions } from '../../../src/platform/members/roles.ts';
import { draftOf, type OpenConsole, openConsole } from './console-pages.ts';
import { FIVE_FAULTS, walkNewCampaign } from './new-campaign-walk.ts';

let desk: OpenConsole;
beforeAll(async () => {
  if (!hasChromium) return;
  desk = await openConsole();
  await draftOf(desk, 'Another', 3);
  await desk.client.agents.create({ name: 'Zoe', connection: { type: 'stream', url: 'wss://agents.example.com/' } });
}, 60_000);
afterAll(() => desk?.stop());

const file = { name: 'People.csv', mimeType: 'text/csv', buffer: FIVE_FAULTS };
const LOST = /The server has not answered since/;

test.skipIf(!hasChromium)(
  'a new campaign, wide and light (needs chromium)',
  async () => {
    const { page, context, faults } = await desk.open({
      viewport: { width: 2560, height: 1200 },
      colorScheme: 'light',
    });
    await desk.signIn(context);
    const look = async (step: string) =>
      void faults.push(...(await desk.faultsOf(page)).map((fault) => `${step}: ${fault}`));
    await walkNewCampaign({ page, hears: 'agent', look });
    expect(faults).toEqual([]);
    await context.close();
  },
  120_000,
);

test.skipIf(!hasChromium)(
  'a file that was left on its way is chosen again, into the same list, and a death of the server is told and outlived (needs chromium)',
  async () => {
    const { page, context } = await desk.open();
    await desk.signIn(context);
    await page.goto('/console/campaigns/new');
    await page.route('**/objects/**', () => undefined);
    await page.getByLabel(/Drop a spreadsheet here/).setInputFiles(file);
    await page.getByText('People.csv is being sent …').waitFor();
    await page.reload();
    await page.getByText('The file of “People” has not come.').waitFor();
    await page.unroute('**/objects/**');

    // The file is sent to a server that is away, and comes once it is back.
    await desk.kill();
    await page.getByText(LOST).waitFor({ timeout: 5000 });
    await desk.start();
    await page.getByText(LOST).waitFor({ state: 'detached' });
    let isFirst = true;
    await page.route('**/objects/**', async (route) => {
      if (isFirst) {
        isFirst = false;
        await route.abort('connectionrefused');
      } else await route.continue();
    });
    await page.getByLabel(/Drop a spreadsheet here/).setInputFiles(file);
    await page.getByRole('heading', { level: 2, name: 'Columns and rows' }).waitFor();
    await page.getByText('Nothing of this file can be imported yet.').waitFor();

    // What had not been read yet is read once the server is back.
    await desk.kill();
    await page.getByText(LOST).waitFor({ timeout: 5000 });
    await desk.start();
    await page.getByText(LOST).waitFor({ state: 'detached' });
    const readSo = page.getByRole('button', { name: 'Read the file so' });
    await page.getByRole('combobox', { name: 'The text is' }).selectOption('windows-1250');
    await readSo.click();
    await page.getByRole('combobox', { name: 'Reach is' }).selectOption('phone-1');
    await readSo.click();
    await page
      .getByText(/can be imported/)
      .first()
      .waitFor();
    expect((await desk.client.contactLists.list({ searchText: 'People' })).totalCount).toBe(2);
    await context.close();
  },
  120_000,
);

test.skipIf(!hasChromium)(
  'who may not make a campaign is not led there, and finds nothing to do there (needs chromium)',
  async () => {
    const permissions = [...rolePermissions.viewer] as ['*'];
    const { key } = await desk.client.apiKeys.create({ name: 'Viewer', permissions });
    const { page, context } = await desk.open();
    await desk.signIn(context, key);
    await page.goto('/console/campaigns');
    await page.getByRole('link', { name: 'Another' }).waitFor();
    expect(await page.getByText('New campaign').count()).toBe(0);
    await page.goto('/console/campaigns/new');
    await page.getByRole('heading', { level: 2, name: 'File' }).waitFor();
    expect(await page.locator('input, select').count()).toBe(0);
    await context.close();
  },
);
