import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConfigError, loadConfig, variables } from './config.ts';

const fault = (environment: Record<string, string>): string => {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
  }
  return 'no fault';
};

test('defaults are taken for what is unset or empty', () => {
  expect(loadConfig({ PORT: '' })).toMatchObject({ port: 8080, rateLimitPerMinute: 600, databaseUrl: undefined });
  expect(
    loadConfig({ PORT: ' 0 ', SIMULATOR_SPEED: '0.5', TRUST_PROXY: 'true', PUBLIC_URL: 'https://a.example/' }),
  ).toMatchObject({
    port: 0,
    simulatorSpeed: 0.5,
    trustProxy: true,
    publicUrl: 'https://a.example',
  });
});

test('a key that can stand in no header is refused, and not shown', () => {
  const message = fault({ SPEECH_KEY: 'sk-first\nsk-second' });
  expect(message).toBe('SPEECH_KEY must be of visible ASCII characters, without spaces.');
  expect(fault({ REALTIME_URL: 'https://a.example', REALTIME_KEY: 'sk-1' })).toMatch(
    /^REALTIME_URL must be a URL such as wss:/,
  );
  expect(fault({ REALTIME_KEY: 'sk-1' })).toBe('REALTIME_URL and REALTIME_KEY must be set together, or neither.');
});

const WORKSPACE = `ws_${'0'.repeat(31)}1`;

test('addresses of workspaces are read with a port and without', () => {
  const other = `ws_${'0'.repeat(31)}2`;
  const of = (addresses: string) => loadConfig({ SIP_WORKSPACE_ADDRESSES: addresses }).sipWorkspaceAddresses;
  const [first, second] = ['1', '2'].map((last) => `00000000-0000-0000-0000-00000000000${last}`);
  expect(of(`${WORKSPACE}=192.0.2.10, ${other}=[2001:db8::1]:5070`)).toEqual([
    { workspaceId: first, host: '192.0.2.10' },
    { workspaceId: second, host: '2001:db8::1', port: 5070 },
  ]);
  expect(of(`${WORKSPACE}=192.0.2.10:5070,${other}=2001:db8::1`)).toEqual([
    { workspaceId: first, host: '192.0.2.10', port: 5070 },
    { workspaceId: second, host: '2001:db8::1' },
  ]);
});

test('32 bytes of a key are read from hex and from base64', () => {
  const bytes = Buffer.alloc(32, 7);
  for (const encoding of ['hex', 'base64'] as const)
    expect(loadConfig({ ENCRYPTION_KEY: bytes.toString(encoding) }).encryptionKey).toEqual(bytes);
});

test.each([
  [{ PORT: '70000' }, 'PORT must be a whole number from 0 to 65535.'],
  [{ PORT: '1e3' }, 'PORT must be a whole number from 0 to 65535.'],
  [{ SIMULATOR_SPEED: '0' }, 'SIMULATOR_SPEED must be a number from 0.01 to 100000.'],
  [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent.'],
  ...['*', 'https://app.example.com/', 'app.example.com', 'https://APP.example.com', 'https://a.example,', 'null'].map(
    (CORS_ORIGINS): [Record<string, string>, string] => [
      { CORS_ORIGINS },
      'CORS_ORIGINS must be origins such as https://app.example.com, separated by commas: no path, and no *.',
    ],
  ),
  ...['UK', 'us', 'US;DE', 'US,'].map((OPERATOR_ALLOWED_COUNTRIES): [Record<string, string>, string] => [
    { OPERATOR_ALLOWED_COUNTRIES },
    'OPERATOR_ALLOWED_COUNTRIES must be countries of ISO 3166-1 with phone numbers of their own, such as US or GB, separated by commas.',
  ]),
  ...['0'.repeat(20), 'abcdefg'.repeat(4)].map((letters): [Record<string, string>, string] => [
    { BOOTSTRAP_API_KEY: `tl_dev_${letters}` },
    'BOOTSTRAP_API_KEY must be a key that nobody guesses: make its letters and digits by chance.',
  ]),
  ...['PUBLIC_URL', 'AGENTS_URL', 'S3_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'].flatMap((name) =>
    [
      'localhost:8080',
      'ftp://a.example.com',
      'https://hunter2@a.example.com',
      'http://a:hunter2@localhost',
      'http://',
    ].map((value): [Record<string, string>, string] => [
      { [name]: value },
      `${name} must be a URL such as https://host.example.com, without a user name and a password.`,
    ]),
  ),
  [{ TRUST_PROXY: 'yes' }, 'TRUST_PROXY must be one of true, false.'],
  [
    { DATABASE_URL: 'nowhere' },
    'DATABASE_URL must be a PostgreSQL URL, such as postgres://role:password@host/database.',
  ],
  [
    { DATABASE_URL: 'mysql://host/db' },
    'DATABASE_URL must be a PostgreSQL URL, such as postgres://role:password@host/database.',
  ],
  ...[
    ['one,,three', 'host 2 of 3 is empty'],
    ['one,two:x', 'host 2 of 2 is no host or host:port'],
    ['one:5433,two,one:5433', 'host 3 of 3 is named twice'],
    ['%2Frun%2Fone,two:70000', 'host 2 of 2 is no host or host:port'],
  ].map(([hosts, why]): [Record<string, string>, string] => [
    { DATABASE_URL: `postgres://role:a,secret@${hosts}/database` },
    `DATABASE_URL must name each host once, as postgres://role:password@host1,host2:5433/database does: ${why}.`,
  ]),
  [
    { DATABASE_URL: 'postgres://one,two/database?host=three' },
    'DATABASE_URL must name each host once, as postgres://role:password@host1,host2:5433/database does: hosts are named before the database and by ?host= as well.',
  ],
  ...['x'.repeat(31), `${'x'.repeat(32)} y`].map((OPERATOR_KEY): [Record<string, string>, string] => [
    { OPERATOR_KEY },
    'OPERATOR_KEY must be 32 to 256 visible ASCII characters without spaces, made by chance.',
  ]),
  [{ ENCRYPTION_KEY: 'short' }, 'ENCRYPTION_KEY must be 32 bytes in base64 or hex.'],
  [{ AGENTS_FILE: 'a', AGENTS_URL: 'http://a.example' }, 'AGENTS_FILE and AGENTS_URL can not both be set.'],
  [{ S3_ACCESS_KEY_ID: 'a' }, 'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together, or neither.'],
  ...['192.0.2.1', `${WORKSPACE}=host`, `${WORKSPACE}=192.0.2.1:70000`, `${WORKSPACE}=[192.0.2.1`].map(
    (SIP_WORKSPACE_ADDRESSES): [Record<string, string>, string] => [
      { SIP_WORKSPACE_ADDRESSES },
      'SIP_WORKSPACE_ADDRESSES must be workspaces with addresses of this machine, such as ws_…=192.0.2.10:5070, separated by commas.',
    ],
  ),
  [
    { SIP_WORKSPACE_ADDRESSES: `${WORKSPACE}=192.0.2.1,${WORKSPACE}=192.0.2.2` },
    'SIP_WORKSPACE_ADDRESSES must name each workspace once.',
  ],
  [
    { PORT: 'x', POOL_SIZE: '1' },
    'PORT must be a whole number from 0 to 65535.\nPOOL_SIZE must be a whole number from 2 to 1000.',
  ],
])('%j: %s', (environment, message) => expect(fault(environment)).toBe(message));

test('docs/operations.md lists the variables as they are here', () => {
  const rows = Object.values(variables).map(
    ({ name, default: fallback, description }) =>
      `| \`${name}\` | ${fallback === undefined ? '' : `\`${fallback}\``} | ${description} |`,
  );
  const table = ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
  const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  const [, listed] = page.split(/<!-- \/?variables -->/);
  expect(listed?.trim()).toBe(table);
});
