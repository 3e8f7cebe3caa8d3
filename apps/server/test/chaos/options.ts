/** What a run of chaos is given. */
export interface ChaosOptions {
  seed: number;
  /** How long load and faults go on, in seconds. */
  seconds: number;
  faults: readonly FaultName[];
  servers: number;
  /** How much is asked for: 1 is what two cores bear with ease, 0.5 half of it. */
  load: number;
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
] as const;
export type FaultName = (typeof faultNames)[number];
