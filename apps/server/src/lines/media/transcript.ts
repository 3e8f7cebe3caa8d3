/** A turn of a call's transcript, as the contract has it. */
export interface Turn {
  /** RFC 3339. */
  at: string;
  role: 'agent' | 'person' | 'system';
  text: string;
  interrupted?: boolean;
}

interface Said {
  role: Turn['role'];
  /** Milliseconds since the epoch. */
  at: number;
  text: string;
  /** Bytes of its sound: those that are played lie between two places in all that is. */
  bytes: number;
  from: number;
  until: number;
  /** How many of them were heard, if it was cut short. */
  heard: number | undefined;
}

const MOST_TURNS = 2000;
/** Of all texts together, in characters. */
const MOST_TEXT = 100_000;

/**
 * What was said on both sides of a call, and how much of it was heard. Places are bytes of µ-law since the call's begin.
 */
export class Transcript {
  #said = new Map<string, Said>();
  #text = 0;
  #notes = 0;
  readonly #changed: (item: string) => void;

  /** @param changed hears of each item that has become another one */
  constructor(changed: (item: string) => void = () => {}) {
    this.#changed = changed;
  }

  /** One has begun to speak. @returns nothing if there are too many turns */
  begin(item: string, role: Turn['role'], at: number): Said | undefined {
    const known = this.#said.get(item);
    if (known || this.#said.size >= MOST_TURNS) return known;
    const said: Said = { ...{ role, at, text: '', bytes: 0, from: 0, until: 0 }, heard: undefined };
    this.#said.set(item, said);
    return said;
  }

  add(item: string, text: string): void {
    const said = this.#said.get(item);
    if (!said || this.#text + text.length > MOST_TEXT) return;
    this.#text += text.length;
    said.text += text.replaceAll(/[\p{Cc}\p{Surrogate}]+/gu, ' ');
    this.#changed(item);
  }

  /** What neither side has said. @returns its item, to which more can be added */
  note(at: number, text = ''): string {
    this.#notes += 1;
    const item = `note ${this.#notes}`;
    this.begin(item, 'system', at);
    this.add(item, text);
    return item;
  }

  /** Whether an item was cut short: nobody hears more of it. */
  isCut(item: string): boolean {
    return this.#said.get(item)?.heard !== undefined;
  }

  /** Sound of an item. @param place where it begins, if it is played */
  sound(item: string, bytes: number, place: number | undefined): void {
    const said = this.#said.get(item);
    if (!said) return;
    if (place !== undefined) {
      if (said.until === 0) said.from = place;
      said.until = place + bytes;
    }
    said.bytes += bytes;
  }

  /**
   * Nobody hears what comes after a place.
   * @param current an item of which more may come, that nobody hears either
   * @returns the items that are cut by that, and how many bytes of each were heard
   */
  cutAt(place: number, current?: string): { item: string; heard: number }[] {
    const cut: { item: string; heard: number }[] = [];
    for (const [item, said] of this.#said) {
      if ((said.until <= place && item !== current) || said.heard !== undefined) continue;
      said.heard = Math.max(0, Math.min(place, said.until) - said.from);
      cut.push({ item, heard: said.heard });
      this.#changed(item);
    }
    return cut;
  }

  /** A turn as it is by now. */
  turn(item: string): Turn | undefined {
    const said = this.#said.get(item);
    return said && turnOf(said);
  }

  /** The turns as they were heard, in the order in which they began. */
  turns(): Turn[] {
    return [...this.#said.values()]
      .map(turnOf)
      .filter(({ text }) => text !== '')
      .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  }
}

const turnOf = ({ role, at, text, bytes, heard }: Said): Turn => ({
  ...{ at: new Date(at).toISOString(), role },
  text: heard === undefined ? text.trim() : partOf(text.trim(), bytes === 0 ? 0 : heard / bytes),
  ...(heard !== undefined && { interrupted: true }),
});

/** The whole words of the first part of a text. */
function partOf(text: string, share: number): string {
  const end = Math.floor(text.length * share);
  if (end >= text.length) return text;
  const last = text.slice(0, end + 1).search(/\s\S*$/);
  return text.slice(0, Math.max(0, last)).trim();
}
