/** What may stand between two fields, the likeliest first. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

const SAMPLE_ROWS = 20;

/** The number of delimiters in each of the first records, those inside quotes left out. */
function countsPerRecord(sample: string, delimiter: Delimiter): number[] {
  const counts: number[] = [];
  let count = 0;
  let quoted = false;
  let blank = true;
  for (const character of sample) {
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === delimiter) count += 1;
    else if (character === '\n' || character === '\r') {
      if (!blank) counts.push(count);
      if (counts.length === SAMPLE_ROWS) return counts;
      count = 0;
      blank = true;
      continue;
    }
    blank = false;
  }
  if (!blank) counts.push(count);
  return counts;
}

/**
 * Finds the delimiter of a CSV file from its first rows: the one that the header uses and that most rows use as often
 * as the header does. A file of one column has none; it is read as if by commas.
 * @param sample the beginning of the file, whole rows where possible
 */
export function detectDelimiter(sample: string): Delimiter {
  let best: Delimiter = ',';
  let bestScore = 0;
  for (const delimiter of DELIMITERS) {
    const counts = countsPerRecord(sample, delimiter);
    const header = counts[0] ?? 0;
    if (header === 0) continue;
    const agreeing = counts.filter((count) => count === header).length / counts.length;
    const score = agreeing * 100 + Math.min(header, 63) / 64;
    if (score > bestScore) {
      best = delimiter;
      bestScore = score;
    }
  }
  return best;
}
