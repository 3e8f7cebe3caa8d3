import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

// 102 MB from the registry, which no other test needs: types vanish when code runs.
const packages = ['openai@7.59.0', '@google/genai@3.3.0', 'ts-json-schema-generator@2.10.0'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'vendor-types-'));
  writeFileSync(path.join(folder, 'package.json'), '{ "name": "vendor-types", "private": true }');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], { cwd: folder });
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(['openai-events', 'openai-live-events', 'gemini-events'])(
  "the schemas of %s are those that the vendor's types make",
  async (name) => {
    copyFileSync(path.join(import.meta.dirname, `${name}.ts.txt`), path.join(folder, `${name}.ts`));
    const generate = ['ts-json-schema-generator', '--path', `${name}.ts`, '--type', '*', '--jsDoc', 'none'];
    const made = execFileSync('npx', [...generate, '--no-type-check'], { cwd: folder, maxBuffer: 2 ** 24 });
    const schema = `${JSON.stringify(JSON.parse(made.toString()))}\n`;
    await expect(schema).toMatchFileSnapshot(path.join(import.meta.dirname, 'generated', `${name}.schema.json`));
  },
  120_000,
);
