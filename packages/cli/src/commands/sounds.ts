import type { Command } from 'commander';
import { type Client, group } from '../group.ts';
import type { Io } from '../io.ts';
import { fileOf } from './knowledge-bases.ts';

const EXAMPLE = 'snd_…';

export function addSounds(program: Command, io: Io): void {
  const sounds = group(program, io, 'sounds', 'Sounds that agents play', EXAMPLE);
  sounds.list(
    (client: Client) => client.sounds.list,
    [
      ['id', 'id'],
      ['name', 'name'],
      ['ms', 'durationMs'],
    ],
    { searchText: ['text', 'part of the name'] },
  );
  sounds.one('show <id>', 'Show one, with a URL to hear it', (client, id = '') => client.sounds.get(id));
  const upload = { usage: 'upload <file>', says: 'Send a WAV file', example: 'upload hello.wav' };
  sounds.add(upload, async ({ client, screen }, file = '') => {
    screen.record(await client.sounds.create(await fileOf(file)));
  });
  sounds.one('delete <id>', 'Delete one', (client, id = '') => client.sounds.delete(id));
}
