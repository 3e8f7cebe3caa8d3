/** What the reading of one document may cost. */
export interface ReadingLimits {
  seconds: number;
  /** Of objects in the reader, and of the reader as a whole, in MiB. */
  heapMebibytes: number;
  memoryMebibytes: number;
  /** Of the text that comes out of it, in UTF-8. */
  textBytes: number;
  pages: number;
}

export const readingLimits: ReadingLimits = {
  seconds: 120,
  heapMebibytes: 256,
  memoryMebibytes: 640,
  textBytes: 10_000_000,
  pages: 3000,
};
