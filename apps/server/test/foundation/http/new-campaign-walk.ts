import type { Page } from 'playwright-core';

/**
 * Five faults hide in it: two columns of phones by names that nobody knows, a name in another code page, an inch mark that
 * opens a quote, a number of another country without its +, and a date in the place of a number.
 */
const ROWS = [
  'Who;Reach;Or else;Town;Appointment',
  // In windows-1250 the last letter is a č.
  'Jan Patan\xe8;030 901820;;Berlin;Monday',
  'Maria Schmidt;;030 901821;Berlin;Tuesday',
  'Tim Vogel;33612345678;;Paris;Wednesday',
  'Eva Klein;01.12.2026;;Bonn;Thursday',
  'Udo Lang;030 901822;;"24 wide;Friday',
  'Ina Kurz;030 901823;;Hamburg;Saturday',
  'Max Berg;030 901824;;Berlin;Sunday',
];
export const FIVE_FAULTS = Buffer.from(`${ROWS.join('\r\n')}\r\n`, 'latin1');

/** What a walk does besides: it looks at what is shown at each of its steps. */
interface Walk {
  page: Page;
  /** Whether one's own phone hears the agent, or an echo. */
  hears: 'agent' | 'echo';
  /** Told of each step that is drawn, by its name. */
  look: (name: string) => Promise<void>;
}

/** By keyboard, but for the file: from a spreadsheet to a campaign that is followed live. Answers the list's ID. */
export async function walkNewCampaign({ page, hears, look }: Walk): Promise<string> {
  const { keyboard } = page;
  const says = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const heading = (name: string) => page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
  /** Types the beginning of an option, as somebody does who looks at a field: once it is there, and until it is chosen. */
  const choose = async (label: string, beginning: string) => {
    const field = page.getByRole('combobox', { name: label, exact: true });
    const option = field.locator('option').filter({ hasText: beginning }).first();
    await option.waitFor({ state: 'attached' });
    const isChosen = async () => (await field.locator('option:checked').textContent())?.startsWith(beginning);
    do {
      await field.focus();
      await keyboard.type(beginning);
      // What is typed a second later begins a new word.
      if (!(await isChosen())) await page.waitForTimeout(1200);
    } while (!(await isChosen()));
  };
  const press = async (name: string | RegExp) => {
    await page.getByRole('button', { name }).or(page.getByRole('link', { name })).first().focus();
    await keyboard.press('Enter');
  };

  await page.goto('/console/campaigns');
  await press('New campaign');
  await heading('File');
  await choose('Numbers without + are of', 'Germany');
  await look('file');
  const field = page.getByLabel(/Drop a spreadsheet here/);
  await field.setInputFiles({ name: 'Customers 2026.csv', mimeType: 'text/csv', buffer: FIVE_FAULTS });

  await heading('Columns and rows');
  const list = /\/console\/campaigns\/new\/(list_[0-9a-f]{32})/.exec(page.url())![1]!;
  await says('Nothing of this file can be imported yet.');
  await look('unclear');
  await choose('The text is', 'Central European: P');
  await press('Read the file so');
  await says('Say below which column holds the phone numbers.');
  await choose('Reach is', 'phone');
  await press('Read the file so');
  await says('7 rows: 3 can be imported, 4 can’t.');
  await says('Jan Patanč');
  await choose('Or else is', 'phone, 2');
  await choose('Who is', 'name');
  await press('Read the file so');
  await says('7 rows: 4 can be imported, 3 can’t.');
  await page.getByRole('cell', { name: 'Maria Schmidt', exact: true }).waitFor();
  await says(/may be \+49\d+ or \+33612345678/);
  await look('columns');
  // What is wrong with a row is mended where it stands, as often as it takes.
  const mend = async (row: number, column: string, value: string) => {
    await page.getByRole('textbox', { name: `${column} of row ${row}` }).fill(value);
    await keyboard.press('Enter');
  };
  await mend(4, 'Reach', '030 901820');
  await says('Row 2 has this number already');
  await mend(4, 'Reach', '+33 6 12 34 56 78');
  await says('7 rows: 5 can be imported, 2 can’t.');
  await mend(6, 'Town', '24 inches wide');
  await says('7 rows: 6 can be imported, 1 can’t.');
  await look('mended');
  await mend(5, 'Reach', '030 901825');
  await says('7 rows: 7 can be imported.');
  await press('Import 7 people');

  await heading('People');
  await page
    .getByRole('cell', { name: /^\d\d:\d\d.*Berlin/ })
    .first()
    .waitFor();
  await look('people');
  await press('Choose who calls them');
  await heading('Agent and number');
  await page.getByRole('radio', { name: 'Zoe' }).focus();
  await keyboard.press(' ');
  await choose('The number that they see', '+1');
  await look('agent');
  // Twice at once, which makes one draft.
  await page.getByRole('button', { name: 'Make the draft, and go on' }).dblclick();

  await heading('Hours');
  await says(/7 people can be called/);
  await look('hours');
  await press('Change');
  await page.getByRole('form', { name: 'Hours and pace' }).getByLabel('Calls at once').fill('2');
  await press('Save');
  await says('2 calls');
  // Who leaves, or loads it again, goes on where they were.
  await page.reload();
  await says(/7 people can be called/);
  await press('These hours are right');
  await heading('Test call');
  await page.getByLabel(hears === 'agent' ? 'The agent, as in a call' : 'A sentence, and then an echo').focus();
  await keyboard.press(' ');
  await page.getByLabel('Your phone, with + and its country').fill('+1 415 555 0142');
  await press('Ring my phone…');
  await page.getByRole('alertdialog', { name: 'Ring +14155550142?' }).waitFor();
  await look('ask');
  await press('Ring it');
  await says(/It was simulated: no telephone rang\./);
  await page.getByRole('link', { name: 'Go on to the dry run' }).waitFor();
  await look('call');
  await press('Go on to the dry run');
  await heading('Dry run and start');
  await page.getByRole('cell', { name: 'Ina Kurz' }).waitFor();
  await look('start');
  await page.getByLabel('Type 7 to start').focus();
  await keyboard.type('7');
  await keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Customers 2026' }).waitFor();
  await says(/Dialing: |Running\.|Done\./);
  await look('live');
  return list;
}
