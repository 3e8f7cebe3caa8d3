/// <reference lib="es2024.arraybuffer" />
const FIRST_CAPACITY = 1024;
const MAX_LOAD = 0.75;

/** Whole numbers from 1 to 2^53 - 1 and the row where each was first, in 16 to 32 bytes a number. It only grows. */
export class SeenNumbers {
  #slots = new Float64Array(FIRST_CAPACITY);
  #rows = new Uint32Array(FIRST_CAPACITY);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a number of a row. @returns the row where it was before; nothing where it is new */
  add(number: number, row: number): number | undefined {
    if (this.#size >= this.#slots.length * MAX_LOAD) this.#grow();
    const slot = slotOf(this.#slots, number);
    if (this.#slots[slot] === number) return this.#rows[slot];
    this.#slots[slot] = number;
    this.#rows[slot] = row;
    this.#size += 1;
    return undefined;
  }

  #grow(): void {
    const larger = new Float64Array(this.#slots.length * 2);
    const rows = new Uint32Array(larger.length);
    for (let from = 0; from < this.#slots.length; from += 1) {
      const number = this.#slots[from]!;
      if (number === 0) continue;
      const slot = slotOf(larger, number);
      larger[slot] = number;
      rows[slot] = this.#rows[from]!;
    }
    // The collector sees how small the objects are, not how much they hold, and would leave the old ones for long.
    for (const old of [this.#slots, this.#rows]) old.buffer.transfer(0);
    this.#slots = larger;
    this.#rows = rows;
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
