/** The UTC day that limits count by. */
export const utcDay = (at: Date): string => at.toISOString().slice(0, 10);
