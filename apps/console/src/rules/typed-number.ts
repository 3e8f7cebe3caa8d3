/** A telephone number as people type it, without spaces and marks, and with + in the place of 00. */
export const typedNumber = (text: string): string => text.replace(/[\s()./-]/g, '').replace(/^00/, '+');
