import { readFile } from 'node:fs/promises';
import { InvalidRequestError, type TrunklineClient } from '@trunkline/client';

type CreateAgent = Parameters<TrunklineClient['agents']['create']>[0];
type Script = Extract<CreateAgent['connection'], { type: 'script' }>;
type Spoken = { text: string } | { soundId: string };

/** An agent, and how it talks, for people. */
export interface DemoAgent {
  agentId: string;
  says: string;
}

const receptionist = new URL('../../../examples/agents/receptionist.json', import.meta.url);
const soundOf = (name: string) => new URL(`../../../examples/agent/sounds/${name}.wav`, import.meta.url);

/** What the script says: texts greet by name, sounds need nothing that speaks. */
const texts = {
  greeting:
    "Hello {{name | default: 'there'}}. You have an appointment tomorrow at ten. Press 1 to confirm it, or 2 if you can not come.",
  confirmed: 'Thank you. Your appointment is confirmed.',
  goodbye: 'Goodbye.',
};

/** Asks whether an appointment suits, and takes a key for it. */
const script = (say: Record<keyof typeof texts, Spoken>): Script => ({
  type: 'script',
  steps: [
    { id: 'greeting', type: 'ask', ...say.greeting, keys: '12', saveAs: 'answer', otherwise: 'goodbye' },
    { id: 'by_answer', type: 'branch', on: 'greeting', cases: [{ is: '1', next: 'note' }], next: 'goodbye' },
    { id: 'note', type: 'set', converted: true, disposition: 'confirmed' },
    { id: 'confirmed', type: 'say', ...say.confirmed },
    { id: 'goodbye', type: 'say', ...say.goodbye },
  ],
});

/** Makes an agent of keys. It greets by name if the machine can speak (espeak-ng, or SPEECH_URL), else it plays sounds. */
export async function makeScript(client: TrunklineClient, signal: AbortSignal): Promise<DemoAgent> {
  const make = async (say: Record<keyof typeof texts, Spoken>) => {
    const made = await client.agents.create({ name: 'Appointments', connection: script(say) }, { signal });
    return made.agent.id;
  };
  try {
    const { greeting, confirmed, goodbye } = texts;
    const agentId = await make({
      greeting: { text: greeting },
      confirmed: { text: confirmed },
      goodbye: { text: goodbye },
    });
    return { agentId, says: 'a script that greets by name, and takes a key' };
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    const upload = async (name: string) => {
      const sound = await client.sounds.create(new File([await readFile(soundOf(name))], `${name}.wav`), { signal });
      return { soundId: sound.id };
    };
    const [greeting, confirmed, goodbye] = await Promise.all([
      upload('greeting'),
      upload('confirmed'),
      upload('goodbye'),
    ]);
    const agentId = await make({ greeting: greeting!, confirmed: confirmed!, goodbye: goodbye! });
    return { agentId, says: 'a script of sounds that takes a key; with espeak-ng installed it greets by name' };
  }
}

/** Makes an agent of a speech model, with the key of the environment. */
export async function makeModel(client: TrunklineClient, apiKey: string, signal: AbortSignal): Promise<DemoAgent> {
  const body = JSON.parse(await readFile(receptionist, 'utf8')) as CreateAgent;
  const connection = { ...body.connection, apiKey } as CreateAgent['connection'];
  const made = await client.agents.create({ ...body, connection }, { signal });
  return { agentId: made.agent.id, says: 'a speech model (OPENAI_API_KEY)' };
}
