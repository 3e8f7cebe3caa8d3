import { createHmac } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { isUnspecified } from '@trunkline/media';
import { createSystemResolver } from '@trunkline/sip';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Config, ConfigError } from './config.ts';
import type { BriefAgent } from './dialing/calls/brief-agent.ts';
import { openRecordingFiles } from './dialing/calls/recordings/recording-files.ts';
import { parseTemplates } from './dialing/workflows/definitions/parse-template.ts';
import type { Database } from './foundation/database/database.ts';
import type { Lease } from './foundation/database/lease.ts';
import { createSecrets, type EncryptionKeys } from './foundation/database/secrets.ts';
import { type DiskObjectStore, openDiskObjectStore } from './foundation/objects/disk.ts';
import { openS3ObjectStore, type S3ObjectStore } from './foundation/objects/s3.ts';
import { measureSlots } from './foundation/observe/slot-metrics.ts';
import type { AddressGuard } from './foundation/outbound-http/address-guard.ts';
import type { SendRequest } from './foundation/outbound-http/guarded-request.ts';
import type { Clock } from './foundation/values/clock.ts';
import { limiter } from './foundation/values/limiter.ts';
import type { AgentDesk } from './lines/conversation/agent-desk.ts';
import type { AgentWords } from './lines/conversation/briefing.ts';
import { type Media, startMedia } from './lines/media/media.ts';
import { countPackets, registerMediaMetrics } from './lines/media/metrics.ts';
import type { Carriers } from './lines/telephony/carrier.ts';
import type { Faults } from './lines/telephony/simulator/faults.ts';
import { createSimulator } from './lines/telephony/simulator/simulator.ts';
import { postgresStore } from './lines/telephony/simulator/store.ts';
import type { SimulatorTime } from './lines/telephony/simulator/time.ts';
import { postgresCallStore } from './lines/telephony/sip/call-store.ts';
import { openSipGateway } from './lines/telephony/sip/sip-gateway.ts';
import { type OpenTrunkProber, openTrunkProber } from './lines/telephony/sip/trunk-prober.ts';
import { twilio } from './lines/telephony/twilio/twilio.ts';
import { grantedAddresses } from './lines/trunks/granted-addresses.ts';
import { inboundTrunks } from './lines/trunks/inbound-trunks.ts';
import { registeredTrunks } from './lines/trunks/registered-trunks.ts';
import { fileWitness } from './platform/installation/file-witness.ts';
import { oldFileWitness, oldS3Witness } from './platform/installation/old-witness.ts';
import type { RestoreGuard } from './platform/installation/restore-guard.ts';
import { s3Witness } from './platform/installation/s3-witness.ts';
import type { Witnesses } from './platform/installation/witness.ts';
import { type AgentDirectory, anyAgent } from './voices/agents/directory.ts';
import { fileAgents } from './voices/agents/file.ts';
import { httpAgents } from './voices/agents/http.ts';
import type { OperatorModel } from './voices/agents/operator-model.ts';
import { espeak, hasEspeak, type SpeechEngine, speechServer } from './voices/speech/speech-engine.ts';

/** How many questions for names of trunks are open at a time; one workspace alone has half of them. */
const TRUNK_NAMES_AT_ONCE = 128;

/** What the SIP adapter needs of the rest. */
export interface SipParts {
  config: Config;
  database: Database;
  clock: Clock;
  log: Logger;
  lease: Lease;
  agents: AgentDirectory;
  brief: BriefAgent;
  words: AgentWords;
  desk: AgentDesk;
  sound: SoundOfCalls;
  trunkGuard: AddressGuard;
  /** Addresses of name servers, instead of those of the machine. */
  nameServers: readonly string[] | undefined;
  /** The server's key, of which the one for names on the wire is made. */
  keys: EncryptionKeys;
  restoreGuard: RestoreGuard;
  registry: Registry;
  /** Sends requests to providers. */
  send: SendRequest;
}

/** The sound of calls and talks. Its threads start with the first who asks for it. */
export interface SoundOfCalls {
  media(): Media;
  /** By which its sockets are reached from this machine. */
  address: string;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';

/** Without SIP its sockets are on loopback alone. */
export function soundOfCalls({ config, log }: { config: Config; log: Logger }, registry: Registry): SoundOfCalls {
  const host = config.sipHost ?? LOOPBACK;
  const none = { networks: [], hosts: [] };
  let media: Media | undefined;
  const open = () => {
    const opened = startMedia({
      workers: config.mediaWorkers,
      host,
      portMin: config.rtpPortMin,
      portMax: config.rtpPortMax,
      peerAddresses: config.sipAllowedAddresses ?? none,
      agentAddresses: config.outboundAllowedAddresses ?? none,
      onClosed: countPackets(registry),
      onThreadDied: (error) => log.error({ err: error }, 'a thread of sound died; its calls are hung up'),
    });
    registerMediaMetrics(registry, opened.media);
    measureSlots(registry, 'rtp_ports', opened.ports);
    return opened.media;
  };
  return {
    media: () => {
      media ??= open();
      return media;
    },
    address: isUnspecified(host) ? LOOPBACK : host,
    close: async () => media?.stop(),
  };
}

/** What tests put in place of the simulated provider's own. */
export interface SimulatorOverrides {
  simulatorTime?: SimulatorTime;
  /** What it does wrong. */
  simulatorFaults?: Faults;
}

/** The simulator, and SIP if the settings say on which address; else the simulator takes the calls of trunks too. */
export async function openCarriers(
  parts: SipParts,
  { simulatorTime, simulatorFaults }: SimulatorOverrides,
): Promise<Carriers> {
  const { config, database } = parts;
  const simulator = createSimulator({
    seed: String(config.simulatorSeed),
    speed: config.simulatorSpeed,
    store: postgresStore(database, parts.restoreGuard, parts.lease),
    ...(simulatorTime && { time: simulatorTime }),
  });
  Object.assign(simulator.faults, simulatorFaults);
  const sip = config.sipHost === undefined ? simulator : await openSip({ ...parts, host: config.sipHost });
  return new Map([
    ['simulator', { calls: simulator, numbers: simulator }],
    ['twilio', { calls: sip, accounts: twilio(parts.send) }],
    ['sip', { calls: sip, trunks: sip }],
  ]);
}

/** The providers whose calls ring nobody here. */
export const simulatedProviders = ({ sipHost }: Config): string[] =>
  sipHost === undefined ? ['simulator', 'twilio', 'sip'] : ['simulator'];

async function openSip({
  config,
  database,
  clock,
  log,
  lease,
  agents,
  trunkGuard,
  nameServers,
  keys,
  restoreGuard,
  registry,
  brief,
  words,
  desk,
  sound,
  host,
}: SipParts & { host: string }) {
  // Before anything that would be left running.
  const tls = await tlsOf(config);
  const recorder = await openRecordingFiles(path.join(config.dataDir, 'recordings'));
  const secrets = createSecrets(...keys);
  const turns = limiter(TRUNK_NAMES_AT_ONCE);
  measureSlots(registry, 'trunk_name_lookups', turns);
  return openSipGateway({
    settings: {
      host,
      port: config.sipPort,
      tls: { ...tls, ...(config.sipTlsPort !== undefined && { port: config.sipTlsPort }) },
      ...(config.sipPublicAddress !== undefined && { publicAddress: config.sipPublicAddress }),
      localNetworks: config.sipLocalNetworks ?? [],
      ofWorkspaces: (config.sipWorkspaceAddresses ?? []).map((each) => ({ port: config.sipPort, ...each })),
      drainSeconds: config.drainSeconds,
      optionsSeconds: config.sipOptionsSeconds,
    },
    lease,
    clock,
    log,
    secret: createHmac('sha256', keys[0]).update('names of SIP calls').digest('hex'),
    media: sound.media(),
    store: postgresCallStore(database, restoreGuard),
    recorder,
    trunkGuard,
    trunkNames: { resolver: createSystemResolver(nameServers && { servers: nameServers }), turns },
    resolveAgent: agents.resolve,
    brief,
    words,
    serve: desk.serve,
    transcribes: config.transcribeUrl !== undefined,
    granted: grantedAddresses(database),
    inbound: inboundTrunks({ database, secrets, log }),
    registered: registeredTrunks({ database, secrets, clock, log }),
    leaseSeconds: config.leaseSeconds,
  });
}

/** What SIP over TLS shows and trusts. Throws where a file can't be read. */
async function tlsOf({ sipTlsCertFile, sipTlsKeyFile, sipTlsCaFile }: Config) {
  const read = async (file: string | undefined) => {
    if (file === undefined) return undefined;
    return readFile(file, 'utf8').catch((error: Error) => {
      throw new ConfigError(
        `A file of SIP_TLS_CERT_FILE, SIP_TLS_KEY_FILE or SIP_TLS_CA_FILE can not be read: ${error.message}.`,
      );
    });
  };
  const [cert, key, ca] = await Promise.all([sipTlsCertFile, sipTlsKeyFile, sipTlsCaFile].map(read));
  return { ...(cert !== undefined && { cert }), ...(key !== undefined && { key }), ...(ca !== undefined && { ca }) };
}

/** Probes trunks as the server does, from a port of its own; undefined where the simulator takes their calls. */
export async function openProber(
  config: Config,
  trunkGuard: AddressGuard,
  database: Database,
): Promise<OpenTrunkProber | undefined> {
  const { sipHost: host, sipPublicAddress: publicAddress, sipLocalNetworks: localNetworks = [] } = config;
  if (host === undefined) return undefined;
  const tls = await tlsOf(config);
  return openTrunkProber(
    { host, tls, localNetworks, ...(publicAddress !== undefined && { publicAddress }) },
    trunkGuard,
    grantedAddresses(database, { isReadOnly: true }),
  );
}

/** S3 where a bucket is configured, else a folder of the data directory. */
export async function openObjects(
  { config, clock, log, publicUrl }: { config: Config; clock: Clock; log: Logger; publicUrl: string },
  keys: EncryptionKeys,
): Promise<S3ObjectStore | DiskObjectStore> {
  const bucket = await openBucket(config);
  if (bucket) return bucket;
  return openDiskObjectStore({
    directory: path.join(config.dataDir, 'objects'),
    secrets: keys.map((key) => createHmac('sha256', key).update('signed object URLs').digest('hex')),
    baseUrl: () => publicUrl,
    clock,
    log,
  });
}

/** The bucket that keeps the files, where one is configured. */
export async function openBucket(config: Config): Promise<S3ObjectStore | undefined> {
  const { s3Bucket: bucket, s3Region: region, s3Endpoint: endpoint } = config;
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  return bucket === undefined ? undefined : openS3ObjectStore({ bucket, region, endpoint, credentials });
}

/**
 * The folder of the settings, or else the bucket that keeps the files, or else a journal in DATA_DIR. What a former version
 * made a file is left as it is, and the folder stands beside it.
 * @param installation the installation's UUID: several may share a place
 */
export async function openWitnesses(
  config: Config,
  installation: string,
  objects?: S3ObjectStore | DiskObjectStore,
): Promise<Witnesses> {
  const { witnessPath, dataDir } = config;
  if (witnessPath) {
    const isFile = await stat(witnessPath).then(
      (found) => found.isFile(),
      () => false,
    );
    const folder = path.join(isFile ? `${witnessPath}.d` : witnessPath, installation);
    return { witness: fileWitness(folder), isJournal: false, readOld: oldFileWitness(witnessPath) };
  }
  const bucket = objects && 'replace' in objects ? objects : await openBucket(config);
  if (bucket) {
    const witness = s3Witness(bucket, `installation/witness/${installation}`);
    return { witness, isJournal: false, readOld: oldS3Witness(bucket) };
  }
  const witness = fileWitness(path.join(dataDir, 'witness', installation));
  return { witness, isJournal: true, readOld: async () => undefined };
}

/** A file or an HTTP directory where one is configured; else every agent ID is accepted. */
export async function openAgents(config: Config, clock: Clock): Promise<AgentDirectory> {
  if (config.agentsFile) {
    return fileAgents(config.agentsFile, templateFault).catch((error) => {
      throw new ConfigError(`AGENTS_FILE ${error.message}`);
    });
  }
  return config.agentsUrl ? httpAgents({ baseUrl: config.agentsUrl, clock, templateFault }) : anyAgent;
}

/** The model that whoever runs the server pays for, if the settings name one. */
export const operatorModelOf = ({ realtimeUrl: url, realtimeKey: key }: Config): OperatorModel | undefined =>
  url !== undefined && key !== undefined ? { url, key } : undefined;

/** What is wrong with the templates of an agent's texts, if anything is. */
export const templateFault = (text: string): string | undefined => parseTemplates(text).fault;

/** Finds what speaks texts: what the settings name, or else the program that is installed, if it is. */
export const engineFinder =
  ({ speechUrl: url, speechKey: key, speechModel: model, speechVoice: voice }: Config) =>
  async (): Promise<SpeechEngine | undefined> => {
    if (url !== undefined) return speechServer({ url, key, model, voice });
    return (await hasEspeak()) ? espeak : undefined;
  };
