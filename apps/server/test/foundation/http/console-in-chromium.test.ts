import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasChromium } from '../../../../../openapi/test/browser.ts';
import { draftOf, HOSTILE, type OpenConsole, openConsole } from './console-pages.ts';

let desk: OpenConsole;
let campaignId: string;
beforeAll(async () => {
  if (!hasChromium) return;
  desk = await openConsole();
  campaignId = await draftOf(desk, 'November reminders', 60);
}, 60_000);
afterAll(() => desk?.stop());

test.skipIf(!hasChromium)(
  'by keyboard alone: sign in, find a draft, start it, stop and let go on all dialing, pause it, see it end, also through a death of the server (needs chromium)',
  async () => {
    const { page, context, faults } = await desk.open({ viewport: { width: 1280, height: 900 } });
    const { keyboard } = page;
    const tabTo = async (name: string, key = 'Tab') => {
      for (let steps = 0; steps < 60; steps += 1) {
        const reached = await page.evaluate<string>('document.activeElement?.textContent');
        if (reached === name) return;
        await keyboard.press(key);
      }
      throw new Error(`${key} does not lead to ${name}.`);
    };
    const says = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const holdSpace = async () => {
      await keyboard.down(' ');
      await page.waitForTimeout(1300);
      await keyboard.up(' ');
    };

    await page.goto('/console');
    await page.getByLabel('API key').focus();
    await keyboard.type(`${desk.apiKey}x`);
    await keyboard.press('Enter');
    await says(/no API key|no longer valid/i);
    await page.getByLabel('API key').fill(desk.apiKey);
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
    expect(await page.evaluate('[document.cookie, localStorage.length, sessionStorage.length]')).toEqual(['', 0, 0]);

    await keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).and(page.locator(':focus')).waitFor();
    await keyboard.type('november');
    await page.getByRole('option', { name: 'November reminders' }).waitFor();
    await keyboard.press('Enter');
    await says('A draft. It calls nobody until it is started.');
    expect(page.url()).toBe(`${desk.url}/console/campaigns/${campaignId}`);
    await tabTo('Start…');
    await keyboard.press('Enter');
    await page.getByLabel('Type 60 to start').focus();
    await keyboard.type('60');
    await keyboard.press('Enter');
    await says(/Dialing: \d calls? up\./);

    await tabTo('Hold to stop all dialing');
    await holdSpace();
    await says(/All dialing is stopped since .*, by /);
    await says('Waiting: all dialing is stopped.');
    await tabTo('Hold to let dialing go on');
    await holdSpace();
    await says(/Dialing is on\./);

    // What is changed of a running campaign pauses it; if the change fails, it goes on.
    await tabTo('Change');
    await keyboard.press('Enter');
    const refused = (url: URL) => url.pathname.endsWith(campaignId);
    await page.route(refused, (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()));
    await tabTo('Save');
    await keyboard.press('Enter');
    await page.getByRole('form', { name: 'Hours and pace' }).getByRole('alert').waitFor();
    expect((await desk.client.campaigns.get(campaignId)).status).toBe('running');
    await page.unroute(refused);
    await tabTo('Leave it');
    await keyboard.press('Enter');
    await page.getByText(/The server has not answered since/).waitFor({ state: 'detached' });

    await tabTo('Pause', 'Shift+Tab');
    await keyboard.press('Enter');
    await says('Paused.');
    await says('Dialing is on. 0 calls up.');
    await desk.kill();
    await says(/The server has not answered since/);
    await desk.start();
    await page.getByText(/The server has not answered since/).waitFor({ state: 'detached' });
    await tabTo('Resume');
    await keyboard.press('Enter');

    await page.getByText('Done.').waitFor({ timeout: 60_000 });
    await page.getByRole('cell', { name: HOSTILE }).waitFor();
    expect(await page.evaluate(`'wasRun' in window`)).toBe(false);
    expect(faults).toEqual([]);
    await context.close();
  },
  150_000,
);

test.skipIf(!hasChromium)(
  'each screen can be read by all, narrow and wide, light and dark, and fits (needs chromium)',
  async () => {
    const faults: string[] = [];
    for (const [width, colorScheme] of [
      [390, 'dark'],
      [2560, 'light'],
    ] as const) {
      const { page, context, faults: told } = await desk.open({ viewport: { width, height: 900 }, colorScheme });
      await page.goto('/console');
      await page.getByLabel('API key').waitFor();
      const look = async () =>
        faults.push(...(await desk.faultsOf(page)).map((fault) => `${page.url()} ${width}: ${fault}`));
      await look();
      await desk.signIn(context);
      const { items } = await desk.client.calls.list({ campaignId, outcome: 'answered' });
      for (const [address, shown] of [
        ['/campaigns', 'November reminders'],
        [`/campaigns/${campaignId}?contact=%2B14152001001`, 'Ada 1'],
        [`/calls?campaignId=${campaignId}`, 'How it ended'],
        [`/calls/${items[0]!.roomId}`, 'Timeline'],
        ['/lists/phone-numbers', 'simulator'],
      ] as const) {
        await page.goto(`/console${address}`);
        await page.getByText(shown).first().waitFor();
        await look();
      }
      faults.push(...told);
      await context.close();
    }
    expect(faults).toEqual([]);
  },
  60_000,
);

test.skipIf(!hasChromium)('who may only read is shown nothing that changes anything (needs chromium)', async () => {
  const { key } = await desk.client.apiKeys.create({ name: 'Reader', permissions: ['campaigns:read'] });
  const { page, context } = await desk.open();
  await desk.signIn(context, key);
  await page.goto(`/console/campaigns/${campaignId}`);
  await page.getByRole('heading', { name: 'November reminders' }).waitFor();
  const buttons = await page.getByRole('button').allTextContents();
  expect(buttons.filter((name) => !/^(Go to|Sign out)/.test(name))).toEqual([]);
  expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Campaigns']);
  await page.getByText(/\d+ ended of/).waitFor();
  expect(await page.getByRole('link', { name: 'answered' }).count()).toBe(0);
  await context.close();
});

test.skipIf(!hasChromium)(
  'a member comes in by the identity provider, and is told why if it has refused (needs chromium)',
  async () => {
    const email = 'ada@example.com';
    await desk.client.members.create({ email, role: 'viewer' });
    const { page, context } = await desk.open();
    let answer: Record<string, string> = { error: 'access_denied' };
    await page.route(`${desk.provider.issuer}/authorize**`, (route) => {
      const back = answer['error']
        ? answer
        : desk.provider.letIn(route.request().url(), { email, email_verified: true });
      const link = `${desk.url}/console/sign-in?${new URLSearchParams(back)}`.replaceAll('&', '&amp;');
      return route.fulfill({ contentType: 'text/html', body: `<a href="${link}">Back</a>` });
    });
    const comeIn = async () => {
      await page.getByRole('button', { name: 'Sign in as a member' }).click();
      await page.getByRole('link', { name: 'Back' }).click();
    };
    await page.goto('/console');
    await comeIn();
    await page.getByText('The identity provider refused it: access_denied.').waitFor();
    answer = {};
    await comeIn();
    await page.getByRole('heading', { name: 'Campaigns' }).waitFor();
    expect(page.url()).toBe(`${desk.url}/console/campaigns`);
    expect((await page.request.get('/v1/session').then((told) => told.json())).data.role).toBe('viewer');
    await context.close();
  },
);
