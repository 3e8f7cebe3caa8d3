import { createHmac } from 'node:crypto';
import path from 'node:path';
import type { Logger } from 'pino';
import { type AgentDirectory, anyAgent } from './agents/directory.ts';
import { fileAgents } from './agents/file.ts';
import { httpAgents } from './agents/http.ts';
import type { Clock } from './clock.ts';
import { type Config, ConfigError } from './config.ts';
import type { Database } from './database/database.ts';
import { fileWitness } from './installation/file-witness.ts';
import { s3Witness } from './installation/s3-witness.ts';
import type { Witness } from './installation/witness.ts';
import { type DiskObjectStore, openDiskObjectStore } from './objects/disk.ts';
import { openS3ObjectStore, type S3ObjectStore } from './objects/s3.ts';
import type { TelephonyGateway } from './telephony/gateway.ts';
import { createSimulator } from './telephony/simulator/simulator.ts';
import { postgresStore } from './telephony/simulator/store.ts';
import type { SimulatorTime } from './telephony/simulator/time.ts';

/** Until the SIP adapter is there, the simulator also takes the calls of imported numbers. */
export function openGateways(
  config: Config,
  database: Database,
  simulatorTime: SimulatorTime | undefined,
): ReadonlyMap<string, TelephonyGateway> {
  const simulator = createSimulator({
    seed: String(config.simulatorSeed),
    speed: config.simulatorSpeed,
    store: postgresStore(database),
    ...(simulatorTime && { time: simulatorTime }),
  });
  return new Map([
    ['simulator', simulator],
    ['sip', simulator],
  ]);
}

/** S3 where a bucket is configured, else a folder of the data directory. */
export async function openObjects(
  { config, clock, log, publicUrl }: { config: Config; clock: Clock; log: Logger; publicUrl: string },
  key: Buffer,
): Promise<S3ObjectStore | DiskObjectStore> {
  const bucket = await openBucket(config);
  if (bucket) return bucket;
  return openDiskObjectStore({
    directory: path.join(config.dataDir, 'objects'),
    secret: createHmac('sha256', key).update('signed object URLs').digest('hex'),
    baseUrl: () => publicUrl,
    clock,
    log,
  });
}

async function openBucket(config: Config): Promise<S3ObjectStore | undefined> {
  const { s3Bucket: bucket, s3Region: region, s3Endpoint: endpoint } = config;
  const { s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  return bucket === undefined ? undefined : openS3ObjectStore({ bucket, region, endpoint, credentials });
}

/** The file of the settings, or else an object of the bucket that keeps the files; undefined where there is neither. */
export async function openWitness(
  config: Config,
  objects?: S3ObjectStore | DiskObjectStore,
): Promise<Witness | undefined> {
  if (config.witnessPath) return fileWitness(config.witnessPath);
  const bucket = objects && 'replace' in objects ? objects : await openBucket(config);
  return bucket && s3Witness(bucket);
}

/** A file or an HTTP directory where one is configured; else every agent ID is accepted. */
export async function openAgents(config: Config, clock: Clock): Promise<AgentDirectory> {
  if (config.agentsFile) {
    return fileAgents(config.agentsFile).catch((error) => {
      throw new ConfigError(`AGENTS_FILE ${error.message}`);
    });
  }
  return config.agentsUrl ? httpAgents({ baseUrl: config.agentsUrl, clock }) : anyAgent;
}
