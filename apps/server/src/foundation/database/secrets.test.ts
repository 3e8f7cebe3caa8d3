import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecrets, loadEncryptionKeys } from './secrets.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-secrets-'));
});
afterAll(() => rm(dataDir, { recursive: true }));

test('a secret comes back, and looks different each time it is encrypted', () => {
  const secrets = createSecrets(randomBytes(32));
  const [one, two] = [secrets.encrypt('pässword', 'a'), secrets.encrypt('pässword', 'a')];
  expect(one).not.toBe(two);
  expect(secrets.decrypt(one, 'a')).toBe('pässword');
  expect(secrets.decrypt(secrets.encrypt('', 'a'), 'a')).toBe('');
});

test('a secret of another place, another key or changed by a bit is refused', () => {
  const secrets = createSecrets(randomBytes(32));
  const encrypted = secrets.encrypt('password', 'a');
  expect(() => secrets.decrypt(encrypted, 'b')).toThrow();
  expect(() => createSecrets(randomBytes(32)).decrypt(encrypted, 'a')).toThrow();
  const bytes = Buffer.from(encrypted.slice(3), 'base64');
  for (let index = 0; index < bytes.length; index += 1) {
    const changed = Buffer.from(bytes);
    changed[index]! ^= 1;
    expect(() => secrets.decrypt(`v1.${changed.toString('base64')}`, 'a')).toThrow();
  }
  expect(() => secrets.decrypt('v1.', 'a')).toThrow();
  expect(() => secrets.decrypt('password', 'a')).toThrow('unknown form');
});

test('what is under any of several keys is read, and written under the first', () => {
  const [one, two, three] = [randomBytes(32), randomBytes(32), randomBytes(32)] as const;
  const both = createSecrets(two, one);
  expect(both.decrypt(createSecrets(one).encrypt('a', 'place'), 'place')).toBe('a');
  expect(createSecrets(two).decrypt(both.encrypt('b', 'place'), 'place')).toBe('b');
  expect(() => both.decrypt(createSecrets(three).encrypt('c', 'place'), 'place')).toThrow();
  expect(() => both.decrypt(both.encrypt('d', 'place'), 'elsewhere')).toThrow();
});

const unset = { encryptionKey: undefined, encryptionKeySecond: undefined };

test('the key is made once, however many servers start, readable by its owner only', async () => {
  const folder = path.join(dataDir, 'new');
  const keys = await Promise.all(Array.from({ length: 8 }, () => loadEncryptionKeys({ ...unset, dataDir: folder })));
  expect(new Set(keys.map(([key]) => key.toString('hex'))).size).toBe(1);
  expect(keys[0]).toHaveLength(1);
  expect(keys[0]![0]).toHaveLength(32);
  expect(await loadEncryptionKeys({ ...unset, dataDir: folder })).toEqual(keys[0]);
  expect(await readdir(folder)).toEqual(['encryption.key']);
  expect((await stat(path.join(folder, 'encryption.key'))).mode & 0o777).toBe(0o600);
});

test('a configured key wins, and a broken file is refused by its name', async () => {
  const configured = randomBytes(32);
  const second = randomBytes(32);
  expect(await loadEncryptionKeys({ ...unset, encryptionKey: configured, dataDir })).toEqual([configured]);
  const both = { encryptionKey: configured, encryptionKeySecond: second, dataDir };
  expect(await loadEncryptionKeys(both)).toEqual([configured, second]);
  await writeFile(path.join(dataDir, 'encryption.key'), 'too short');
  await expect(loadEncryptionKeys({ ...unset, dataDir })).rejects.toThrow('encryption.key must hold');
});
