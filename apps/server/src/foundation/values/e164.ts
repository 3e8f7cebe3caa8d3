/** A number as E.164 writes it, with a plus: 15 digits at most, and no plan has a number below 7. */
const E164 = /^\+[1-9][0-9]{6,14}$/;

/** Whether a text has the form of a number in E.164; a numbering plan may still not have it. */
export const isE164 = (text: string): boolean => E164.test(text);
