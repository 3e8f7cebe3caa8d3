/** Numbers below 1 from a seed (mulberry32), so that what fails once fails again. */
export function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}

/** A few bytes changed, cut, repeated or put in. */
export function mutated(from: Buffer, below: (limit: number) => number): Buffer {
  let result = Buffer.from(from);
  for (let changes = 1 + below(4); changes > 0; changes -= 1) {
    const at = below(result.length + 1);
    const act = below(4);
    if (act === 0 && result.length > 0) result[Math.min(at, result.length - 1)] = below(256);
    else if (act === 1) result = result.subarray(0, at);
    else if (act === 2)
      result = Buffer.concat([result.subarray(0, at), Buffer.alloc(below(40), below(256)), result.subarray(at)]);
    else result = Buffer.concat([result, result.subarray(at)]).subarray(0, 70_000);
  }
  return result;
}
