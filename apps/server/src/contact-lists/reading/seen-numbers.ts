const FIRST_CAPACITY = 1024;
const MAX_LOAD = 0.75;

/** A set of whole numbers from 1 to 2^53 - 1, in 11 to 22 bytes each, that only grows. */
export class SeenNumbers {
  #slots = new Float64Array(FIRST_CAPACITY);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a number. @returns whether it was new */
  add(number: number): boolean {
    if (this.#size >= this.#slots.length * MAX_LOAD) this.#grow();
    const slot = slotOf(this.#slots, number);
    if (this.#slots[slot] === number) return false;
    this.#slots[slot] = number;
    this.#size += 1;
    return true;
  }

  #grow(): void {
    const larger = new Float64Array(this.#slots.length * 2);
    for (const number of this.#slots) {
      if (number !== 0) larger[slotOf(larger, number)] = number;
    }
    this.#slots = larger;
  }
}

/** The slot that holds the number, or the empty one where it belongs. The capacity is a power of two. */
function slotOf(slots: Float64Array, number: number): number {
  const mask = slots.length - 1;
  let hash = Math.imul(number >>> 0, 0x9e3779b1) ^ Math.imul(Math.floor(number / 4294967296), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  let slot = (hash ^ (hash >>> 13)) & mask;
  while (slots[slot] !== 0 && slots[slot] !== number) slot = (slot + 1) & mask;
  return slot;
}
