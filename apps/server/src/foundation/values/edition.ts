import { ServiceError } from './service-error.ts';

/** A resource of which the changes that clients make are counted; or a text takes the place of the count, another one for each state. */
export interface Edited {
  edition: number | string;
}

const tagOf = (edition: Edited['edition']) => `"${edition}"`;

/** An answer with the edition of what it shows. */
export const tagged = <T extends object>(answer: T & { headers?: Record<string, string> }, { edition }: Edited) => ({
  ...answer,
  headers: { ...answer.headers, ETag: tagOf(edition) },
});

/**
 * Lets a change through for which the resource has the edition that it was made for. The transaction must hold the row,
 * so that of two changes of one edition the second sees what the first has made of it. Throws `changed_meanwhile`.
 * @param ifMatch the header, which the contract has checked; without it any edition will do
 */
export function checkEdition({ edition }: Edited, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch === '*' || strongTags(ifMatch).includes(tagOf(edition))) return;
  const message = `It has edition ${tagOf(edition)} by now. Read it again, and repeat the change.`;
  throw new ServiceError('changed_meanwhile', message, { headers: { ETag: tagOf(edition) } });
}

/** Weak ones are left out: for `If-Match` they equal none (RFC 9110, section 13.1.1). */
const strongTags = (list: string) => list.match(/(?:W\/)?"[^"]*"/g)?.filter((tag) => !tag.startsWith('W/')) ?? [];
