/** Words that come so long after the model has begun to answer belong to another turn. */
const LATE_MS = 1000;

/** Names for the turns of a callee, where the vendor has none: one lasts until the model has answered it. */
export class PersonTurns {
  #number = 1;
  #answeredAt: number | undefined;

  /** The model begins to say something. */
  answered(): void {
    this.#answeredAt ??= performance.now();
  }

  /** The callee begins to speak. @returns the turn */
  begins(): string {
    if (this.#answeredAt !== undefined) this.#next();
    return this.#name;
  }

  /** @returns the turn that words belong to */
  heard(): string {
    if (this.#answeredAt !== undefined && performance.now() - this.#answeredAt > LATE_MS) this.#next();
    return this.#name;
  }

  #next(): void {
    this.#number += 1;
    this.#answeredAt = undefined;
  }

  get #name(): string {
    return `person ${this.#number}`;
  }
}
