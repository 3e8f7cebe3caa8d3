import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pickSchemas, type TwilioDocument } from './pick-schemas.ts';

// Its package brings Twilio's command line, which no other test needs: it is unpacked, and not installed.
const PACKAGE = '@twilio/cli-core@8.3.2';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'twilio-api-'));
  execFileSync('npm', ['pack', PACKAGE], { cwd: folder });
  execFileSync('tar', ['xzf', 'twilio-cli-core-8.3.2.tgz'], { cwd: folder });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the schemas that the double judges by are those of Twilio's own description", async () => {
  const read = (document: string) =>
    JSON.parse(
      readFileSync(path.join(folder, 'package/src/services/twilio-api', `${document}.json`), 'utf8'),
    ) as TwilioDocument;
  const picked = pickSchemas(`npm ${PACKAGE} (MIT), src/services/twilio-api`, read);
  await expect(`${JSON.stringify(picked)}\n`).toMatchFileSnapshot(
    path.join(import.meta.dirname, 'generated/twilio-api.json'),
  );
});
