/** All that is remembered, in bytes: two hours and a quarter of sound. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Sounds that calls play, as memory that the threads of sound share: however many calls play one, it is there once. What was
 * not played for longest is forgotten first.
 */
export class SharedSounds {
  #sounds = new Map<string, SharedArrayBuffer>();
  /** Those that are just being read or made. */
  #coming = new Map<string, Promise<SharedArrayBuffer>>();
  #bytes = 0;
  readonly #most: number;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  /** The sound of a name; `load` gets it if it isn't known, once for all who ask meanwhile. */
  async get(name: string, load: () => Promise<Uint8Array>): Promise<SharedArrayBuffer> {
    const known = this.#sounds.get(name);
    if (known) {
      this.#sounds.delete(name);
      this.#sounds.set(name, known);
      return known;
    }
    const coming = this.#coming.get(name) ?? this.#load(name, load);
    this.#coming.set(name, coming);
    return coming;
  }

  forget(name: string): void {
    const known = this.#sounds.get(name);
    if (!known) return;
    this.#sounds.delete(name);
    this.#bytes -= known.byteLength;
  }

  async #load(name: string, load: () => Promise<Uint8Array>): Promise<SharedArrayBuffer> {
    try {
      const sound = shared(await load());
      this.#sounds.set(name, sound);
      this.#bytes += sound.byteLength;
      for (const [oldest, { byteLength }] of this.#sounds) {
        if (this.#bytes <= this.#most) break;
        this.#sounds.delete(oldest);
        this.#bytes -= byteLength;
      }
      return sound;
    } finally {
      this.#coming.delete(name);
    }
  }
}

/**
 * Sounds of one call each, that are remembered until it ends; what was not played for longest is forgotten before that, if
 * there are too many.
 */
export class SoundsOfCalls {
  readonly #sounds: SharedSounds;
  #names = new Map<string, Set<string>>();

  constructor(most = MOST_BYTES) {
    this.#sounds = new SharedSounds(most);
  }

  /** The sound of a name in a call; `load` gets it if it isn't known, or no more. */
  async get(call: string, name: string, load: () => Promise<Uint8Array>): Promise<SharedArrayBuffer> {
    const names = this.#names.get(call) ?? new Set();
    this.#names.set(call, names.add(name));
    const sound = await this.#sounds.get(`${call} ${name}`, load);
    // Its call may have ended meanwhile.
    if (this.#names.get(call) !== names) this.#sounds.forget(`${call} ${name}`);
    return sound;
  }

  /** A call is over. */
  forget(call: string): void {
    for (const name of this.#names.get(call) ?? []) this.#sounds.forget(`${call} ${name}`);
    this.#names.delete(call);
  }
}

/** A copy that threads share. */
export function shared(sound: Uint8Array): SharedArrayBuffer {
  const copy = new SharedArrayBuffer(sound.length);
  new Uint8Array(copy).set(sound);
  return copy;
}
