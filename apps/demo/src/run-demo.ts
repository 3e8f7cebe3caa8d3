import { openAsBlob } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type CampaignEvent,
  type CheckedUpload,
  ContactFileError,
  type ContactList,
  createClient,
  type TrunklineClient,
} from '@trunkline/client';
import { makeModel, makeScript } from './demo-agents.ts';
import { readFaults } from './faults.ts';
import { DemoError, type DemoOptions } from './options.ts';
import { count, type Screen } from './screen.ts';
import type { ServerProcess } from './server-process.ts';
import { fewContacts, openSipLine, saveRecording } from './sip-line.ts';
import { type DemoResult, showFaults, showResult } from './summary.ts';

type Stats = CampaignEvent['data']['stats'];

/** A call whose person keeps talking is hung up then: five simulated minutes are over in five seconds. */
const MAX_CALL_SECONDS = 300;
/** Over SIP nobody waits longer for whoever doesn't hear it. */
const RING_SECONDS = 5;

const NO_ROW = (fileName: string, country: string) =>
  `No row of ${fileName} can be called. Numbers without a + were read as\nnumbers of ${country}. Where they are another country's, name it:\n\n  npm run demo -- --contacts FILE --country DE`;

const seconds = (since: number) => Math.round((performance.now() - since) / 100) / 10;

interface Demo {
  client: TrunklineClient;
  screen: Screen;
  options: DemoOptions;
  /** Ends whatever is waited for. */
  signal: AbortSignal;
  /** RTP ports for callees, where calls go out over SIP. */
  calleePorts: { min: number; max: number } | undefined;
}

/** Buys a number, imports the contacts, calls every one of them and shows what came of it. */
export async function runDemo(
  server: ServerProcess,
  { screen, options, signal, calleePorts }: Omit<Demo, 'client'>,
): Promise<DemoResult> {
  const begun = performance.now();
  screen.waiting('Server', 'making a database …');
  const { url, docsUrl, apiKey } = await server.ready;
  screen.line('Server', `ready in ${seconds(begun)} s, with its own PostgreSQL`);
  screen.line('Docs', `${docsUrl} ${screen.dim('(while it runs)')}`);
  const demo = { client: createClient({ baseUrl: url, apiKey }), screen, options, signal, calleePorts };
  // It calls people of everywhere, at whatever hour somebody looks at it; its callees are of this machine.
  await demo.client.workspace.update({ quietHours: null }, { signal });
  const line = calleePorts
    ? await openSipLine(demo.client, screen, { calleePorts, modelKey: modelKeyOf(options), signal })
    : { fromNumber: await buyNumber(demo), agentId: 'demo-agent', stop: async () => {} };
  try {
    const { list, upload } = await importContacts(demo);
    await explainFaults(demo, upload.errorReportUrl);
    const result = await dial(demo, { ...line, list, upload });
    showResult(screen, result, options);
    return result;
  } finally {
    await line.stop();
  }
}

/** The key of a speech model; it costs money, so that it is used only where talking is asked for. */
const modelKeyOf = ({ talk }: DemoOptions): string | undefined => (talk && process.env['OPENAI_API_KEY']) || undefined;

/** Makes agents to talk to, and says where. The server runs until it is stopped. */
export async function openTalk(
  server: ServerProcess,
  { screen, options, signal }: Pick<Demo, 'screen' | 'options' | 'signal'>,
): Promise<void> {
  screen.waiting('Server', 'making a database …');
  const { url, apiKey } = await server.ready;
  const client = createClient({ baseUrl: url, apiKey });
  const modelKey = modelKeyOf(options);
  screen.line('Agent', (await makeScript(client, signal)).says);
  if (modelKey) screen.line('Agent', (await makeModel(client, modelKey, signal)).says);
  else screen.line('', screen.dim('with OPENAI_API_KEY set, a speech model too'));
  screen.text('');
  screen.text(`  ${screen.bold('Open this in a browser on this machine, choose an agent, and talk:')}`);
  screen.text(`    ${url}/talk#${apiKey}`);
  screen.text(screen.dim('    Ctrl-C ends it.'));
}

async function explainFaults(
  { screen, options, signal }: Pick<Demo, 'screen' | 'options' | 'signal'>,
  errorReportUrl: string | undefined,
): Promise<void> {
  if (!errorReportUrl) return;
  const report = await (await fetch(errorReportUrl, { signal })).text();
  const faults = readFaults(report);
  showFaults(screen, faults, await keep(report, options));
}

/** Keeps the report of a person's own file, since the server's copy goes with it. Returns where. */
async function keep(report: string, { contacts, shipped }: DemoOptions): Promise<string | undefined> {
  if (shipped) return undefined;
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-report-'));
  const file = path.join(folder, `${path.parse(contacts).name}.errors.csv`);
  await writeFile(file, report, { mode: 0o600 });
  return file;
}

async function buyNumber({ client, screen, signal }: Demo): Promise<string> {
  const query = { provider: 'simulator', country: 'US' } as const;
  const { items } = await client.phoneNumbers.searchAvailable(query, { signal });
  const offer = items[0];
  if (!offer) throw new DemoError('The simulator has no number for sale.');
  const body = { phoneNumber: offer.phoneNumber, provider: query.provider };
  const bought = await client.phoneNumbers.buy(body, { signal });
  screen.line('Number', `${bought.phoneNumber}, bought from the simulator`);
  return bought.phoneNumber;
}

async function importContacts({ client, screen, options, signal, calleePorts }: Demo) {
  const { contacts, country, shipped } = options;
  const fileName = path.basename(contacts);
  screen.line('Contacts', fileName);
  const bar = screen.progress('Validating');
  const file = calleePorts && shipped ? await fewContacts(contacts) : await openAsBlob(contacts);
  const uploaded = await client.contactLists
    .upload({
      name: fileName,
      fileName,
      file,
      signal,
      defaultCountry: country,
      onProgress: ({ progress }) => {
        if (progress) bar.update(progress.bytesRead, progress.bytesTotal, `${count(progress.rowsRead)} rows read`);
      },
    })
    .catch(async (error: unknown) => {
      if (!(error instanceof ContactFileError)) throw error;
      const { errorReportUrl, failure } = error.upload;
      if (failure?.code !== 'no_valid_rows') throw new DemoError(`${fileName} can't be imported. ${error.message}`);
      bar.end(0, 1, 'no valid row');
      await explainFaults({ screen, options, signal }, errorReportUrl);
      throw new DemoError(NO_ROW(fileName, country));
    });
  const { validRows, invalidRows, duplicateRows } = uploaded.upload.metadata;
  bar.end(1, 1, `${count(validRows)} valid, ${count(invalidRows)} invalid, ${count(duplicateRows)} duplicates`);
  await client.contactLists.confirm(uploaded.list.id, { signal });
  return uploaded;
}

interface Ready {
  fromNumber: string;
  agentId: string;
  list: ContactList;
  upload: CheckedUpload;
}

async function dial(
  { client, screen, options: { concurrency }, signal, calleePorts }: Demo,
  { fromNumber, agentId, list, upload }: Ready,
): Promise<DemoResult> {
  const body = {
    name: 'Demo',
    agentId,
    fromNumber,
    lists: [{ id: list.id, role: 'contacts' as const }],
    maxConcurrency: concurrency,
    maxCallSeconds: MAX_CALL_SECONDS,
    ...(calleePorts && { recording: true, ringTimeoutSeconds: RING_SECONDS }),
  };
  const { id } = await client.campaigns.create(body, { signal });
  const bar = screen.progress('Dialing');
  const begun = performance.now();
  await client.campaigns.start(id, {}, { signal });
  let last: CampaignEvent['data'] | undefined;
  for await (const { data } of client.campaigns.streamEvents(id, { signal })) {
    last = data;
    const { done, skipped, totalContacts, dialing, attempts } = data.stats;
    const rate = (attempts / Math.max(0.5, seconds(begun))).toFixed(0);
    const text = `${count(done + skipped)} of ${count(totalContacts)}, ${count(dialing)} on the line, ${rate}/s`;
    bar.update(done + skipped, totalContacts, text);
  }
  const took = seconds(begun);
  if (last?.campaign.status !== 'completed') {
    const reason = last?.campaign.meta?.failure?.reason;
    throw new DemoError(`The campaign is ${last?.campaign.status ?? 'gone'}${reason ? `: ${reason}` : ''}.`);
  }
  const { done, skipped, totalContacts } = last.stats;
  bar.end(done + skipped, totalContacts, `${count(done + skipped)} of ${count(totalContacts)} in ${took} s`);
  const recording = calleePorts && (await saveRecording(client, id));
  return { ...resultOf(upload, last.stats, took), ...(recording !== undefined && { recording }) };
}

function resultOf({ metadata }: CheckedUpload, { attempts, outcomes }: Stats, took: number): DemoResult {
  const ended = Object.entries(outcomes).filter(([, number]) => number > 0);
  return {
    contacts: metadata.totalRows,
    valid: metadata.validRows,
    invalid: metadata.invalidRows,
    duplicates: metadata.duplicateRows,
    calls: attempts,
    outcomes: Object.fromEntries(ended.sort(([, a], [, b]) => b - a)),
    seconds: took,
    callsPerSecond: Math.round((attempts / Math.max(0.1, took)) * 10) / 10,
  };
}
