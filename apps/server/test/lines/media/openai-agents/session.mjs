// A session of OpenAI's own client of the realtime API with the model at a URL. It runs where that is installed: speaks, uses a
// tool of its own, and tells what it heard.
import { RealtimeAgent, RealtimeSession, tool } from '@openai/agents/realtime';
import { z } from 'zod';

const [, , url] = process.argv;
const tell = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const note = tool({
  name: 'note',
  description: 'Notes something.',
  parameters: z.object({ text: z.string() }),
  execute: async ({ text }) => {
    tell({ noted: text });
    return 'It is noted.';
  },
});
const agent = new RealtimeAgent({ name: 'Anna', instructions: 'Be brief.', tools: [note] });
const format = { type: 'audio/pcmu' };
// Left out, they send null for it, which their own types don't have.
const noiseReduction = { type: 'near_field' };
const audio = { input: { format, noiseReduction }, output: { format, voice: 'marin' } };
const session = new RealtimeSession(agent, { transport: 'websocket', model: 'gpt-realtime-2', config: { audio } });
session.on('audio', ({ data }) => tell({ sound: Buffer.from(data).toString('base64') }));
session.on('audio_interrupted', () => tell({ interrupted: true }));
session.on('error', ({ error }) => tell({ error: String(error?.message ?? error?.error?.message ?? error) }));
session.on('history_updated', (history) =>
  tell({ history: history.flatMap(({ content }) => (content ?? []).flatMap(({ transcript }) => transcript ?? [])) }),
);
await session.connect({ apiKey: 'sk-test', url });
session.sendAudio(new Uint8Array(1600).fill(0x55).buffer);
process.stdin.on('end', () => session.close()).resume();
