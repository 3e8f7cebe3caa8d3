import { execFileSync, spawnSync } from 'node:child_process';
import { alawToUlaw, FRAME, pcmToUlaw, Resampler, SAMPLE_RATE, ulawToAlaw } from '@trunkline/media';
import { chances } from '../../chances.ts';

/** What answers a spoken call. */
export type Answerer = 'human' | 'machine' | 'screening' | 'menu' | 'fax' | 'not_in_service';

/** What a callee's side sounds like from its answer on. Times are in ms. */
export interface SpokenCall {
  answerer: Answerer;
  /** What is said, and in which language. */
  text: string;
  about: string;
  /** When its words begin, and when they are over. */
  saidFrom: number;
  saidUntil: number;
  beeps: { from: number; until: number; hz: number }[];
  /** Frames of 20 ms. */
  frames: Buffer[];
}

interface Text {
  answerer: Answerer;
  text: string;
  voice: string;
}

const english = ['en-us', 'en-gb', 'en-us+f3', 'en-gb+m7', 'en-us+f5', 'en-gb-scotland'];
const human = ['Hello?', 'Hello, this is Ada.', 'Yes? Who is calling?', 'Good morning, Smith residence.', 'Speaking.'];
const longHuman = ['Acme Dental, this is Grace, how can I help you?', 'Hold on, let me get to another room. Hello?'];
const machine = [
  'Hi, you have reached Maria. I can not come to the phone right now. Please leave a message after the tone.',
  'Your call has been forwarded to an automatic voice message system. At the tone, please record your message.',
  'Hey, it is Bob. Leave a message.',
  'You have reached the Smiths. We are out. Leave your name and number.',
];
const screening = ['Hi, if you record your name and reason for calling, I will see if this person is available.'];
const menu = ['Thank you for calling Acme. For sales, press one. For support, press two.'];
const gone = ['The number you have dialed is not in service. Please check the number and dial again.'];
const others: Text[] = [
  { answerer: 'human', text: 'Hallo? Müller am Apparat.', voice: 'de' },
  { answerer: 'human', text: '¿Dígame? ¿Quién es?', voice: 'es' },
  { answerer: 'human', text: 'Allô, oui ?', voice: 'fr-fr+f2' },
  { answerer: 'machine', text: 'Bitte hinterlassen Sie eine Nachricht nach dem Ton.', voice: 'de+f2' },
  { answerer: 'machine', text: 'En este momento no puedo atender. Deje su mensaje después de la señal.', voice: 'es' },
  { answerer: 'machine', text: 'Vous êtes bien chez Paul. Laissez un message après le bip.', voice: 'fr-fr' },
];
const of = (answerer: Answerer, texts: readonly string[]): Text[] =>
  texts.flatMap((text) => english.map((voice) => ({ answerer, text, voice })));
const people = [...of('human', [...human, ...longHuman]), ...others.filter(({ answerer }) => answerer === 'human')];
const machines = [...of('machine', machine), ...others.filter(({ answerer }) => answerer === 'machine')];
const texts = { people, machines, rest: [...of('screening', screening), ...of('menu', menu)] };

const beeps = [440, 1000, 1400, 850, 1004, 2000, 620, 320, 2550].map((hz, at) => ({
  hz,
  ms: 200 + ((at * 130) % 700),
}));
const noises = ['none', 'hiss', 'babble'] as const;

/** Whether texts can be spoken here: without espeak-ng there are no spoken calls. */
export const canSpeak = spawnSync('espeak-ng', ['--version']).status === 0;

const spoken = new Map<string, Float32Array>();

/** A sentence as espeak-ng speaks it, in 8 kHz, without the silence around it. */
function speech(text: string, voice: string, speed: number): Float32Array {
  const key = `${voice} ${speed} ${text}`;
  const known = spoken.get(key);
  if (known) return known;
  const wav = execFileSync('espeak-ng', ['-v', voice, '-s', String(speed), '--stdout', text], { maxBuffer: 1e8 });
  const rate = wav.readUInt32LE(24);
  const samples = new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + wav.length - (wav.length % 2)));
  const made = new Resampler(rate, SAMPLE_RATE).push(samples);
  const isLoud = (sample: number) => Math.abs(sample) > 200;
  const sound = made.slice(made.findIndex(isLoud), made.findLastIndex(isLoud));
  spoken.set(key, sound);
  return sound;
}

/** Sound that is put together piece by piece. */
class Mix {
  readonly samples: number[] = [];
  get ms(): number {
    return (this.samples.length * 1000) / SAMPLE_RATE;
  }
  silence(ms: number): void {
    for (let at = 0; at < ms * 8; at += 1) this.samples.push(0);
  }
  add(sound: Iterable<number>, gain = 1): void {
    for (const sample of sound) this.samples.push(sample * gain);
  }
  /** @param rises to so many Hz at its end */
  tone(hz: number, ms: number, { rises = hz, overtone = 0, level = 6000 } = {}): void {
    let phase = 0;
    for (let at = 0; at < ms * 8; at += 1) {
      phase += (2 * Math.PI * (hz + ((rises - hz) * at) / (ms * 8))) / SAMPLE_RATE;
      this.samples.push(level * (Math.sin(phase) + overtone * Math.sin(2 * phase)));
    }
  }
  pair(one: number, other: number, ms: number): void {
    for (let at = 0; at < ms * 8; at += 1)
      this.samples.push(
        [one, other].reduce((sum, hz) => sum + 3000 * Math.sin((2 * Math.PI * hz * at) / SAMPLE_RATE), 0),
      );
  }
}

/** Plucked chords, as music on hold. */
function music(mix: Mix, ms: number, chance: () => number): void {
  for (let left = ms; left > 0; left -= 400) {
    const notes = Array.from({ length: 3 }, () => 220 * 2 ** (Math.floor(chance() * 24) / 12));
    for (let at = 0; at < 3200; at += 1)
      mix.samples.push(
        notes.reduce(
          (sum, hz) => sum + 2500 * Math.exp(-at / 1600) * Math.sin((2 * Math.PI * hz * at) / SAMPLE_RATE),
          0,
        ),
      );
  }
}

/** Makes spoken calls, always the same ones of a seed. */
export function* spokenCalls(count: number, seed: number): Generator<SpokenCall> {
  const chance = chances(seed);
  const one = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length) % list.length]!;
  for (let at = 0; at < count; at += 1) yield makeCall(at, chance, one);
}

function makeCall(at: number, chance: () => number, one: <T>(list: readonly T[]) => T): SpokenCall {
  const kind = at % 10;
  const mix = new Mix();
  const made: SpokenCall['beeps'] = [];
  const speed = 140 + 20 * Math.floor(chance() * 4);
  const noise = noises[at % 3]!;
  let told: Text = { answerer: 'fax', text: '', voice: '' };
  const beep = (hz: number, ms: number, more = {}) => {
    made.push({ from: mix.ms, until: mix.ms + ms, hz });
    mix.tone(hz, ms, more);
  };
  let [saidFrom, saidUntil] = [0, 0];
  const say = (text: Text) => {
    told = text;
    mix.silence(200 + chance() * 900);
    saidFrom = mix.ms;
    // Many lines lose what is said in the first moment.
    const sound = speech(text.text, text.voice, speed);
    mix.add(chance() < 0.2 ? sound.slice(1200) : sound);
    saidUntil = mix.ms;
  };
  if (kind <= 3) say(one(texts.people));
  else if (kind <= 7) {
    say(one(texts.machines));
    if (kind !== 7 || chance() < 0.5) {
      mix.silence(300 + chance() * 900);
      const { hz, ms } = one(beeps);
      const form =
        kind === 4
          ? 'double'
          : kind === 5 && hz < 1400
            ? 'rising'
            : kind === 6 && hz >= 620 && hz < 1300
              ? 'overtone'
              : 'plain';
      if (form === 'rising') beep(hz, Math.max(ms, 300), { rises: hz * 1.6 });
      else beep(hz, ms, form === 'overtone' ? { overtone: 0.4 } : {});
      if (form === 'double') {
        mix.silence(200 + chance() * 1000);
        beep(hz, ms);
      }
    }
  } else if (kind === 8) say(one(texts.rest));
  else {
    const which = Math.floor(at / 10) % 4;
    mix.silence(300);
    if (which === 0) {
      mix.tone(2100, 2800);
    } else if (which === 1) {
      for (const hz of [950, 1400, 1800]) mix.tone(hz, 330);
      say({ answerer: 'not_in_service', text: gone[0]!, voice: 'en-us' });
    } else if (which === 2) {
      for (let turn = 0; turn < 2; turn += 1) {
        mix.pair(440, 480, 2000);
        mix.silence(4000);
      }
      say(one(texts.people));
    } else {
      music(mix, 4000, chance);
      say(one(texts.people));
    }
  }
  mix.silence(made.length > 0 ? 3000 : 5000);
  return {
    answerer: told.answerer,
    text: told.text,
    about: `${at}: ${told.answerer} "${told.text.slice(0, 40)}" ${told.voice} ${noise} ${made.map(({ hz, from, until }) => `${hz} Hz at ${Math.round(from)} for ${Math.round(until - from)}`)}`,
    ...{ saidFrom, saidUntil, beeps: made, frames: framesOf(mix.samples, noise, at, chance) },
  };
}

function framesOf(
  samples: readonly number[],
  noise: (typeof noises)[number],
  at: number,
  chance: () => number,
): Buffer[] {
  const gain = [1, 0.5, 0.25][at % 7 === 0 ? 2 : at % 2]!;
  const babble = noise === 'babble' ? speech(machine[1]!, 'en-gb+f4', 160) : undefined;
  const ulaw = Buffer.from(
    Uint8Array.from(samples, (sample, place) => {
      const beside = noise === 'hiss' ? 250 * (chance() * 2 - 1) : babble ? 0.02 * babble[place % babble.length]! : 0;
      return pcmToUlaw(Math.round(sample * gain + beside));
    }),
  );
  const heard = at % 4 === 0 ? alawToUlaw(ulawToAlaw(ulaw)) : ulaw;
  const frames: Buffer[] = [];
  for (let from = 0; from + FRAME <= heard.length; from += FRAME) frames.push(heard.subarray(from, from + FRAME));
  return frames;
}
