import { isIPv4 } from 'node:net';

/** Connections that peers have open to us at once. */
const MOST = 2000;
/** The rest is kept for known peers: strangers may find all taken, they never do. */
const MOST_OF_STRANGERS = 1500;
const MOST_OF_AN_ADDRESS = { stranger: 20, known: 500 };

/** Lets peers open connections, so that none can take those of the others. */
export class ConnectionRoom {
  readonly #isKnown: (address: string) => boolean;
  readonly #held = new Map<string, number>();
  #all = 0;
  #strangers = 0;

  /** @param isKnown whether an address is of a peer that calls are expected from */
  constructor(isKnown: (address: string) => boolean) {
    this.#isKnown = isKnown;
  }

  isKnown(address: string): boolean {
    return this.#isKnown(address);
  }

  /** Lets a connection in; returns how to give its place back, or undefined where there is none. */
  enter(address: string): (() => void) | undefined {
    const isKnown = this.#isKnown(address);
    const place = placeOf(address);
    const held = this.#held.get(place) ?? 0;
    if (this.#all >= MOST || held >= MOST_OF_AN_ADDRESS[isKnown ? 'known' : 'stranger']) return undefined;
    if (!isKnown && this.#strangers >= MOST_OF_STRANGERS) return undefined;
    this.#all += 1;
    if (!isKnown) this.#strangers += 1;
    this.#held.set(place, held + 1);
    return () => {
      this.#all -= 1;
      if (!isKnown) this.#strangers -= 1;
      const left = this.#held.get(place)! - 1;
      if (left > 0) this.#held.set(place, left);
      else this.#held.delete(place);
    };
  }
}

/** An IPv4 address, or the first half of an IPv6 one, of which everybody has as many addresses as he likes. */
function placeOf(address: string): string {
  if (isIPv4(address)) return address;
  const [head = '', tail = ''] = address.replace(/%.*/, '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const missing = address.includes('::') ? 8 - groups.length - (tail === '' ? 0 : tail.split(':').length) : 0;
  const all = [...groups, ...Array(missing).fill('0'), ...(tail === '' ? [] : tail.split(':'))];
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
