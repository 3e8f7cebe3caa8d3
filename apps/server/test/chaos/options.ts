/** What a run of chaos is given. */
export interface ChaosOptions {
  seed: number;
  /** How long load and faults go on, in seconds. */
  seconds: number;
  faults: readonly FaultName[];
  servers: number;
  /** How much is asked for: 1 is what two cores bear with ease, 0.5 half of it. */
  load: number;
  /** How the database loses its last commits when all has come to rest, if it does. */
  loss?: LossName | undefined;
  /** How long what is left may take after the last fault, in seconds. */
  restSeconds: number;
  /** Is told what happens, a line each. */
  tell(line: string): void;
}

/** The faults that there are, in the order in which they are listed. */
export const faultNames = [
  'kill',
  'stop',
  'drain',
  'postgres',
  'terminate',
  'pools',
  'disk',
  'clock',
  'provider',
  'thread',
  'packets',
  'resolver',
  'store',
  'version',
] as const;
export type FaultName = (typeof faultNames)[number];

/** How a database loses its last commits: its folder is put back, a standby takes over that was behind, a dump is loaded. */
export const lossNames = ['copy', 'standby', 'dump'] as const;
export type LossName = (typeof lossNames)[number];
