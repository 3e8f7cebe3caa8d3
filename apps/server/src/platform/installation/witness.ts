/** What is known outside the database of how far it had come. */
export interface Testimony {
  /** The installation's UUID. */
  id: string;
  watermark: number;
}

/** A place outside the database, and outside what is backed up and restored with it. */
export interface Witness {
  /** Undefined where nothing was ever written. Throws where it can't be read. */
  read(): Promise<Testimony | undefined>;
  write(testimony: Testimony): Promise<void>;
}

/** The text that witnesses keep. */
export const toText = ({ id, watermark }: Testimony): string => `${JSON.stringify({ id, watermark })}\n`;

/** Throws for anything else than `toText` makes: half a file is no testimony. */
export function fromText(text: string): Testimony {
  const { id, watermark } = JSON.parse(text) as Partial<Testimony>;
  if (typeof id === 'string' && Number.isSafeInteger(watermark)) return { id, watermark: watermark! };
  throw new Error('The witness holds something else than an ID and a watermark.');
}
