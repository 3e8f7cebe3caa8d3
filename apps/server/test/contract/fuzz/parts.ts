import fc from 'fast-check';
import { ulawHeader } from '../../../src/voices/sounds/wav.ts';

const TYPE = 'multipart/form-data; boundary=x';

const part = (name: string, text: string, type = 'text/plain', as = 'files') =>
  `--x\r\nContent-Disposition: form-data; name="${as}"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`;

/** Files of a knowledge base, in UTF-8. */
export const files = fc
  .array(
    fc.record({
      name: fc.constantFrom(
        ...[
          'a.txt',
          'b.md',
          'c.csv',
          '../d.txt',
          'e.exe',
          '',
          'f.pdf',
          'g.docx',
          'h.html',
          'i.TXT',
          `${'n'.repeat(300)}.txt`,
        ],
        ...['.txt', 'ü🙂.txt', 'a\u202etxt.exe', 'j.json', 'k.xlsx'],
      ),
      text: fc.oneof(
        fc.string({ maxLength: 50 }),
        fc.constantFrom('', '\0\0', '%PDF-1.4\nx', 'PK\u0003\u0004x', '<html><p>a<script>', '\uFEFFa', ' \n '),
        fc.string({ unit: 'binary', maxLength: 50 }).map((text) => text.toWellFormed()),
      ),
    }),
    { maxLength: 3 },
  )
  .map((all) => ({ type: TYPE, text: `${all.map(({ name, text }) => part(name, text)).join('')}--x--\r\n` }));

/** A sound of 5 ms, all of whose bytes are ASCII. */
const wav = ulawHeader(40).toString('latin1') + 'x'.repeat(40);

/** A sound, or what says that it is one. */
export const sound = fc
  .constantFrom(wav, wav, wav.slice(0, 70), `RIFF${wav.slice(8)}`, wav.replace('data', 'tada'), '')
  .map((text) => ({ type: TYPE, text: `${part('a.wav', text, 'audio/wav', 'file')}--x--\r\n` }));

/** What comes instead of such files. */
export const oddParts = fc.constantFrom(
  ...['', '--x', '--x--', '--x\r\n', '--y--\r\n', '\r\n\r\n--x--', `${'-'.repeat(5000)}x`, '--x\r\n\r\n\r\n--x--\r\n'],
  ...[part('a.txt', 'cut off'), `${part('a.txt', 'a')}--x`, `--x\r\n${'A: b\r\n'.repeat(3000)}\r\nx\r\n--x--\r\n`],
  ...[
    '--x\r\nContent-Disposition: form-data\r\n\r\nx\r\n--x--\r\n',
    '--x\r\nContent-Disposition: x; name=\r\n\r\n\r\n--x--\r\n',
  ],
  `--x\r\nContent-Disposition: form-data; name="files"; filename*=UTF-8''%ff%zz\r\n\r\nx\r\n--x--\r\n`,
  `--x\r\nContent-Disposition: form-data; name="other"\r\n\r\nx\r\n--x--\r\n`,
  `--x\r\nContent-Disposition: form-data; name="__proto__"; filename="a.txt"\r\n\r\nx\r\n--x--\r\n`,
  `--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\nContent-Transfer-Encoding: base64\r\n\r\n%%\r\n--x--\r\n`,
  `${part('a.txt', 'x').repeat(120)}--x--\r\n`,
  `${part('a.txt', `--x\r\n\r\n--x--`)}--x--\r\nmore`,
);
