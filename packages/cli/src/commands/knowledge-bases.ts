import { openAsBlob } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { First } from '../client-types.ts';
import { Fault, usageFault } from '../faults.ts';
import { number } from '../flags.ts';
import { type Client, group } from '../group.ts';
import { columnsOf, type Io } from '../io.ts';
import { plain, several, wrap } from '../text.ts';
import { pollUntil } from '../wait.ts';

const EXAMPLE = 'kb_…';

/** A file of this machine, to be sent. Throws a usage fault where there is none. */
export async function fileOf(file: string): Promise<{ name: string; content: Blob }> {
  await access(file).catch(() => {
    throw usageFault(`There is no file ${file} that can be read.`);
  });
  return { name: path.basename(file), content: await openAsBlob(file) };
}

export function addKnowledgeBases(program: Command, io: Io): void {
  const bases = group(program, io, 'kb', 'Knowledge bases that agents search', EXAMPLE);
  bases.list(
    (client: Client) => client.knowledgeBases.list,
    [
      ['id', 'id'],
      ['status', 'status'],
      ['name', 'name'],
      ['documents', 'documentCount'],
    ],
    { searchText: ['text', 'part of the name'] },
  );
  bases.one('show <id>', 'Show one, and its documents', (client, id = '') => client.knowledgeBases.get(id));
  bases.send(
    { usage: 'create', says: 'Make one', example: 'create --name Clinic' },
    { name: ['text', 'what to call it'], description: ['text', 'what is in it'] },
    (client, body: First<'knowledgeBases', 'create'>) => client.knowledgeBases.create(body),
  );

  const add = { usage: 'add <id> <files...>', says: 'Add documents, and wait', example: `add ${EXAMPLE} hours.pdf` };
  bases.add(add, async ({ client, screen, io }, id = '', ...files) => {
    const { documents: added } = await client.knowledgeBases.addDocuments(id, await Promise.all(files.map(fileOf)));
    const ids = new Set(added.map((document) => document.id));
    const read = async () => (await client.knowledgeBases.get(id)).documents.filter((document) => ids.has(document.id));
    const settled = (documents: typeof added) =>
      documents.every(({ status }) => status === 'ready' || status === 'failed');
    screen.progress(`Reading ${several(files.length, 'file')} …`);
    const documents = await pollUntil(read, settled, { signal: io.signal });
    screen.table(documents, [
      ['id', 'id'],
      ['status', 'status'],
      ['file', 'fileName'],
      ['why', 'errorMessage'],
    ]);
    if (documents.some(({ status }) => status === 'failed')) throw new Fault('Not every file could be read.');
  });

  const search = {
    usage: 'search <id> <words...>',
    says: 'What an agent would find',
    example: `search ${EXAMPLE} hours`,
  };
  bases
    .add(search, async ({ client, screen, options }, id = '', ...words) => {
      const query = { query: words.join(' '), limit: Number(options['limit']) };
      const { passages } = await client.knowledgeBases.search(id, query);
      if (screen.json || passages.length === 0) return screen.table(passages, [['file', 'fileName']]);
      for (const { fileName, score, text } of passages)
        screen.say(
          [`${plain(fileName)} (${score.toFixed(2)})`, ...wrap(plain(text), (columnsOf(io.stdout) ?? 80) - 2)].join(
            '\n  ',
          ),
        );
    })
    .option('--limit <n>', 'how many at most', number, 5);
  bases.one('delete <id>', 'Delete one', (client, id = '') => client.knowledgeBases.delete(id));
}
