import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { temporaryFolder } from './postgres.ts';

const NAMES = ['Ana Ruiz', 'Björn Åkesson', 'Chidi Okafor', 'Dana Levi', 'Eve Marin', 'Farid Haddad', 'Grace Kim'];
const CITIES = ['Springfield', 'San Antonio', 'Portland', 'Fairview', 'Boulder', 'Savannah', 'Des Moines'];

/** Five columns and some 78 bytes a row, every number another one, as people's contact files are. */
function* lines(rows: number): Generator<string> {
  let text = 'phone_number,name,city,appointment,reference\n';
  for (let i = 0; i < rows; i += 1) {
    const subscriber = 2_000_000 + ((Math.floor(i / 8) * 7919) % 7_999_993);
    const person = `${NAMES[i % 7]},${CITIES[i % 7]},2026-12-01 10:30`;
    text += `+1${2 + (i % 8)}12${subscriber},${person},customer ${i} of the spring list\n`;
    if (text.length < 256 * 1024) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** Writes a contact file of so many rows; it goes with the measurement. */
export async function contactFile(rows: number): Promise<{ file: string; bytes: number }> {
  const file = path.join(await temporaryFolder(), `${rows}.csv`);
  await pipeline(Readable.from(lines(rows)), createWriteStream(file));
  return { file, bytes: (await stat(file)).size };
}
