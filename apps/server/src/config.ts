import path from 'node:path';
import * as parse from './config-values.ts';

interface Variable<T> {
  name: string;
  description: string;
  default: string | undefined;
  parse(text: string): T;
}

const withDefault = <T>(name: string, fallback: string, parser: (text: string) => T, description: string) =>
  ({ name, description, default: fallback, parse: parser }) satisfies Variable<T>;

const optional = <T>(name: string, parser: (text: string) => T, description: string): Variable<T | undefined> => ({
  name,
  description,
  default: undefined,
  parse: parser,
});

const {
  integer,
  number,
  oneOf,
  text,
  url,
  issuer,
  socketUrl,
  postgresUrl,
  flag,
  headerKey,
  longKey,
  secret32,
  apiKey,
  address,
  addresses,
  networks,
  workspaceAddresses,
  origins,
  pairs,
  countries,
} = parse;

const days = integer(1, 36_500);

/** Every variable of the environment that the server reads. docs/operations.md holds the same table. */
export const variables = {
  port: withDefault('PORT', '8080', integer(0, 65_535), 'Port to listen on; 0 takes any free one.'),
  host: withDefault('HOST', '0.0.0.0', text, 'Address to listen on.'),
  publicUrl: optional(
    'PUBLIC_URL',
    url,
    'Where clients reach the server, for the links it hands out. Default: `http://localhost:` and the port.',
  ),
  serverUrl: optional('SERVER_URL', url, 'Where clients reach this one of several servers. Default: `PUBLIC_URL`.'),
  trustProxy: withDefault(
    'TRUST_PROXY',
    'false',
    flag,
    'Whether the client address is what a proxy in front says in `X-Forwarded-For`.',
  ),
  corsOrigins: optional(
    'CORS_ORIGINS',
    origins,
    'Origins whose scripts may use the server from a browser, such as `https://app.example.com`, by commas. None by default.',
  ),
  dataDir: withDefault(
    'DATA_DIR',
    '.data',
    (value) => path.resolve(value),
    'Folder for the embedded database, uploaded files and made keys.',
  ),
  databaseUrl: optional(
    'DATABASE_URL',
    postgresUrl,
    'PostgreSQL 15 or newer, `postgres://…`; of several hosts by commas the primary is taken. Without it the server runs its own in `DATA_DIR`.',
  ),
  poolSize: withDefault(
    'POOL_SIZE',
    '10',
    integer(2, 1000),
    'Most database connections of one server process; one workspace takes half of them.',
  ),
  encryptionKey: optional(
    'ENCRYPTION_KEY',
    secret32,
    'Encrypts SIP passwords, webhook secrets, and answers that show a secret: 32 bytes in base64 or hex. Made and kept in `DATA_DIR` by default.',
  ),
  encryptionKeySecond: optional(
    'ENCRYPTION_KEY_SECOND',
    secret32,
    'Another key, which only reads: that before or after `ENCRYPTION_KEY`, while keys are changed.',
  ),
  bootstrapApiKey: optional(
    'BOOTSTRAP_API_KEY',
    apiKey,
    'First API key, taken when there is no key yet. `tl_`, letters, `_` and at least 20 letters and digits.',
  ),
  operatorKey: optional(
    'OPERATOR_KEY',
    longKey,
    'Opens `/v1/operator/status`, which says how all servers are, across workspaces: 32 characters or more. Without it there is nothing at this path.',
  ),
  rateLimitPerMinute: withDefault(
    'RATE_LIMIT_PER_MINUTE',
    '600',
    integer(0, 10_000_000),
    'Requests a minute that one key may make to one server process; 0 lifts the limit.',
  ),
  workspaceRateLimitPerMinute: optional(
    'WORKSPACE_RATE_LIMIT_PER_MINUTE',
    integer(0, 10_000_000),
    'The same of all keys of a workspace together; five times `RATE_LIMIT_PER_MINUTE` by default, and 0 lifts the limit.',
  ),
  oidcIssuer: optional('OIDC_ISSUER', issuer, 'Issuer of the identity provider that members sign in by.'),
  oidcClientId: optional('OIDC_CLIENT_ID', text, 'What the identity provider knows this server as.'),
  oidcClientSecret: optional('OIDC_CLIENT_SECRET', text, 'Secret of that client, if it has one.'),
  logLevel: withDefault(
    'LOG_LEVEL',
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'How much is logged, on standard error.',
  ),
  logFormat: withDefault(
    'LOG_FORMAT',
    'auto',
    oneOf('auto', 'json', 'pretty'),
    'How it is logged: `json`, an object a line, or `pretty`, for people. `auto` is `pretty` on a terminal.',
  ),
  logPhoneNumbers: withDefault(
    'LOG_PHONE_NUMBERS',
    'masked',
    oneOf('masked', 'full'),
    'How phone numbers are logged: `masked`, their last two digits alone, or `full`.',
  ),
  otlpEndpoint: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    url,
    'Collector that traces are sent to by OTLP over HTTP, such as `http://localhost:4318`. Without it nothing is traced.',
  ),
  otlpHeaders: optional(
    'OTEL_EXPORTER_OTLP_HEADERS',
    pairs,
    'Headers for the collector, `name=value` by commas, such as a key.',
  ),
  otlpServiceName: withDefault('OTEL_SERVICE_NAME', 'trunkline', text, 'What this server is called in traces.'),
  validateResponses: withDefault(
    'VALIDATE_RESPONSES',
    'sampled',
    oneOf('all', 'sampled', 'off'),
    'Which answers are checked against the contract. Sampled: the first hundred of each operation, then one in a hundred, and every error.',
  ),
  simulatorSpeed: withDefault(
    'SIMULATOR_SPEED',
    '1',
    number(0.01, 100_000),
    'How much faster than real time simulated calls ring and talk.',
  ),
  simulatorSeed: withDefault(
    'SIMULATOR_SEED',
    '1',
    integer(0, 2 ** 31 - 1),
    'Seed of the simulator: the same seed gives the same outcomes.',
  ),
  agentsFile: optional(
    'AGENTS_FILE',
    text,
    'YAML file of agents that are known besides those of `/v1/agents`. Without it and `AGENTS_URL` every other agent ID is accepted.',
  ),
  agentsUrl: optional('AGENTS_URL', url, 'HTTP directory of agents, asked as `GET <url>/<agentId>`.'),
  speechUrl: optional(
    'SPEECH_URL',
    url,
    'What speaks the texts of scripts: a URL of the common form `POST /v1/audio/speech`, such as `https://api.openai.com/v1/audio/speech`. Without it the program `espeak-ng` does, if it is installed.',
  ),
  speechKey: optional('SPEECH_KEY', headerKey, 'Key for `SPEECH_URL`, sent as a bearer token.'),
  speechModel: withDefault('SPEECH_MODEL', 'tts-1', text, 'Model that `SPEECH_URL` is asked for.'),
  speechVoice: withDefault('SPEECH_VOICE', 'alloy', text, 'Voice of `SPEECH_URL` if an agent names none.'),
  transcribeUrl: optional('TRANSCRIBE_URL', url, 'Writes down how callees answer: `POST /v1/audio/transcriptions`.'),
  transcribeKey: optional('TRANSCRIBE_KEY', headerKey, 'Key for `TRANSCRIBE_URL`, sent as a bearer token.'),
  transcribeModel: withDefault('TRANSCRIBE_MODEL', 'whisper-1', text, 'Model that `TRANSCRIBE_URL` is asked for.'),
  realtimeUrl: optional(
    'REALTIME_URL',
    socketUrl,
    'Speech model that agents of every workspace may use without a key of their own, such as `wss://api.openai.com/v1/realtime`: those that have this `url`, or whose protocol has it by default.',
  ),
  realtimeKey: optional(
    'REALTIME_KEY',
    headerKey,
    'Key of that model. It goes to `REALTIME_URL` alone, and whoever runs the server pays for what is used.',
  ),
  s3Bucket: optional('S3_BUCKET', text, 'Keeps uploaded files in this S3 bucket instead of `DATA_DIR`.'),
  s3Endpoint: optional('S3_ENDPOINT', url, 'URL of an S3-compatible store, addressed by path; Amazon S3 by default.'),
  s3Region: withDefault('S3_REGION', 'us-east-1', text, 'Region of the bucket.'),
  s3AccessKeyId: optional(
    'S3_ACCESS_KEY_ID',
    text,
    'Access key of the bucket. Without it the AWS credential chain is used.',
  ),
  s3SecretAccessKey: optional('S3_SECRET_ACCESS_KEY', text, 'Secret of the access key.'),
  witnessPath: optional(
    'WITNESS_PATH',
    (value) => path.resolve(value),
    'Folder, outside `DATA_DIR`, in which each server tells whom it calls before it does, so that a database that was restored or has lost something calls nobody twice. With `S3_BUCKET` the bucket by default, else a journal in `DATA_DIR`.',
  ),
  witnessDays: withDefault(
    'WITNESS_DAYS',
    '30',
    integer(1, 3650),
    'Days after which what stands in the witness is removed; of a backup that is older than that it is known that it lacks calls, but not which.',
  ),
  uploadMaxRows: withDefault('UPLOAD_MAX_ROWS', '1000000', integer(1, 100_000_000), 'Most rows of a contact file.'),
  uploadMaxBytes: withDefault(
    'UPLOAD_MAX_BYTES',
    '200000000',
    integer(1, 10_000_000_000),
    'Most bytes of a contact file.',
  ),
  uploadMaxColumns: withDefault('UPLOAD_MAX_COLUMNS', '64', integer(1, 1000), 'Most columns of a contact file.'),
  uploadMaxRowBytes: withDefault(
    'UPLOAD_MAX_ROW_BYTES',
    '65536',
    integer(16, 10_000_000),
    'Most bytes of a row of a contact file.',
  ),
  documentMaxBytes: withDefault(
    'DOCUMENT_MAX_BYTES',
    '50000000',
    integer(1, 1_000_000_000),
    'Most bytes of a document of a knowledge base.',
  ),
  storageMaxBytes: optional(
    'STORAGE_MAX_BYTES',
    integer(1, Number.MAX_SAFE_INTEGER),
    'Most bytes of contact files, documents, sounds and recordings that a workspace may keep. No limit by default.',
  ),
  callRetentionDays: optional(
    'CALL_RETENTION_DAYS',
    days,
    'Days after their end for which calls are kept, with results, transcripts and recordings. For ever by default.',
  ),
  runRetentionDays: optional(
    'RUN_RETENTION_DAYS',
    days,
    'Days after their end for which runs of workflows are kept. For ever by default.',
  ),
  auditRetentionDays: optional(
    'AUDIT_RETENTION_DAYS',
    days,
    'Days for which entries of the audit log are kept. For ever by default.',
  ),
  recordingRetentionDays: optional(
    'RECORDING_RETENTION_DAYS',
    days,
    'Days for which recordings of calls are kept. For ever by default.',
  ),
  simulatorCallRetentionDays: withDefault(
    'SIMULATOR_CALL_RETENTION_DAYS',
    '7',
    days,
    'Days for which the simulated provider remembers the calls that it was given.',
  ),
  maxConcurrency: withDefault(
    'MAX_CONCURRENCY',
    '10000',
    integer(1, 10_000),
    'Most calls that a server process has queued or up, and the highest `maxConcurrency` that a campaign may ask for; 10,000 at most.',
  ),
  operatorAllowedCountries: optional(
    'OPERATOR_ALLOWED_COUNTRIES',
    countries,
    'The only countries that any workspace may call, such as `US,CA`. All by default. No key can allow others.',
  ),
  operatorMaxCallsPerDay: optional(
    'OPERATOR_MAX_CALLS_PER_DAY',
    integer(1, 10_000_000),
    'Most outbound calls of each workspace in a UTC day. No limit by default. No key can raise it.',
  ),
  operatorMaxInboundCalls: optional(
    'OPERATOR_MAX_INBOUND_CALLS',
    integer(1, 10_000_000),
    'Most calls of each workspace at once that have arrived. No limit by default. No key can raise it.',
  ),
  operatorPremiumRate: withDefault(
    'OPERATOR_PREMIUM_RATE',
    'allow',
    oneOf('allow', 'refuse'),
    'Premium-rate numbers, and those that cost as much. `allow`: a workspace may open them by its `premiumRateAllowed`. `refuse`: none can.',
  ),
  outboundAllowedAddresses: optional(
    'OUTBOUND_ALLOWED_ADDRESSES',
    addresses,
    'Private addresses that `http` nodes and webhooks may reach: addresses, networks and host names, by commas.',
  ),
  sipAllowedAddresses: optional(
    'SIP_ALLOWED_ADDRESSES',
    addresses,
    'Private addresses that trunks may have: addresses, networks and host names, by commas.',
  ),
  sipHost: optional(
    'SIP_HOST',
    address,
    'Address that SIP and RTP are bound to, such as `0.0.0.0`. Without it no phone rings: the simulator takes the calls of trunks.',
  ),
  sipPort: withDefault('SIP_PORT', '5060', integer(0, 65_535), 'Port of SIP over UDP and TCP; 0 takes any free one.'),
  sipTlsPort: optional('SIP_TLS_PORT', integer(0, 65_535), 'Port on which SIP over TLS is taken. Calls out need none.'),
  sipTlsCertFile: optional('SIP_TLS_CERT_FILE', text, 'Certificate of SIP over TLS, in PEM.'),
  sipTlsKeyFile: optional('SIP_TLS_KEY_FILE', text, 'Its private key, in PEM.'),
  sipTlsCaFile: optional('SIP_TLS_CA_FILE', text, 'Certificates to trust besides those of Node.js, in PEM.'),
  sipPublicAddress: optional(
    'SIP_PUBLIC_ADDRESS',
    address,
    'Address at which trunks reach the server, where a NAT stands in front of it.',
  ),
  sipLocalNetworks: optional(
    'SIP_LOCAL_NETWORKS',
    networks,
    'Networks whose peers reach the server without that NAT, by commas.',
  ),
  sipWorkspaceAddresses: optional(
    'SIP_WORKSPACE_ADDRESSES',
    workspaceAddresses,
    'Workspaces that speak SIP from an address or a port of their own, as ws_…=192.0.2.10:5070, by commas.',
  ),
  sipOptionsSeconds: withDefault(
    'SIP_OPTIONS_SECONDS',
    '30',
    integer(1, 3600),
    'How often each address of a trunk that has several is asked by OPTIONS whether it is there.',
  ),
  rtpPortMin: withDefault('RTP_PORT_MIN', '20000', integer(1024, 65_534), 'First port of RTP, even. A call takes two.'),
  rtpPortMax: withDefault('RTP_PORT_MAX', '29999', integer(1025, 65_535), 'Last port of RTP.'),
  mediaWorkers: withDefault(
    'MEDIA_WORKERS',
    '1',
    integer(1, 64),
    'Threads for sound, a core for each; one carries 150 to 350 calls, and takes no more while it is behind.',
  ),
  drainSeconds: withDefault(
    'DRAIN_SECONDS',
    '0',
    integer(0, 14_400),
    'How long calls that are up go on when the server is told to stop; then they are hung up.',
  ),
  longestBlockHours: withDefault(
    'LONGEST_BLOCK_HOURS',
    '24',
    number(0.001, 8760),
    'How long a workflow run may lack what it needs, such as a number to call from, before it fails. Closed hours that open within 8 days do not count.',
  ),
  leaseSeconds: withDefault(
    'LEASE_SECONDS',
    '10',
    number(1, 300),
    'How long a server that fell silent keeps its calls, and its registrations with trunks, before another takes them over.',
  ),
} satisfies Record<string, Variable<unknown>>;

/** The server's settings, checked and typed. */
export type Config = { [K in keyof typeof variables]: ReturnType<(typeof variables)[K]['parse']> };

/** What is wrong with the environment, one line for each variable. */
export class ConfigError extends Error {}

/**
 * Reads the settings. An empty variable counts as unset. Throws `ConfigError`, which names every faulty variable and
 * what would be right, and shows no value.
 */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const faults: string[] = [];
  const read = ([key, variable]: [string, Variable<unknown>]): [string, unknown] => {
    const given = environment[variable.name];
    const value = given === undefined || given.trim() === '' ? variable.default : given.trim();
    if (value === undefined) return [key, undefined];
    try {
      return [key, variable.parse(value)];
    } catch (error) {
      faults.push(`${variable.name} ${(error as Error).message}.`);
      return [key, undefined];
    }
  };
  const config = Object.fromEntries(Object.entries(variables).map(read)) as Config;
  if (config.agentsFile && config.agentsUrl) faults.push('AGENTS_FILE and AGENTS_URL can not both be set.');
  if (!config.oidcIssuer !== !config.oidcClientId)
    faults.push('OIDC_ISSUER and OIDC_CLIENT_ID must be set together, or neither.');
  if (!config.realtimeUrl !== !config.realtimeKey)
    faults.push('REALTIME_URL and REALTIME_KEY must be set together, or neither.');
  if (!config.s3AccessKeyId !== !config.s3SecretAccessKey)
    faults.push('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together, or neither.');
  if (config.witnessPath && !path.relative(config.dataDir, config.witnessPath).startsWith('..'))
    faults.push('WITNESS_PATH must lie outside DATA_DIR: whatever restores that would restore it too.');
  if (config.rtpPortMin >= config.rtpPortMax) faults.push('RTP_PORT_MIN must be less than RTP_PORT_MAX.');
  if (config.sipTlsPort !== undefined && !(config.sipTlsCertFile && config.sipTlsKeyFile))
    faults.push('SIP_TLS_PORT needs SIP_TLS_CERT_FILE and SIP_TLS_KEY_FILE.');
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return config;
}
