// How the contract's tags and operations are named in @trunkline/client.

const capitalized = (word: string) => word[0]!.toUpperCase() + word.slice(1);
/** `Number pools` as a type is named: `NumberPools`. */
export const pascal = (words: string) =>
  words
    .split(' ')
    .map((word) => capitalized(word.toLowerCase()))
    .join('');
/** `Number pools` as a property is named: `numberPools`. */
export const camel = (words: string) => pascal(words)[0]!.toLowerCase() + pascal(words).slice(1);

/**
 * How the client names an operation of a tag: `listCampaignContacts` of the campaigns is `listContacts`, `startCampaign` is `start`.
 */
export function methodName(operationId: string, tag: string): string {
  const noun = tag === 'People' ? 'Person' : pascal(tag).replace(/(?<=tch)es$|s$/, '');
  return operationId.replace(new RegExp(`${noun}(es|s)?(?=[A-Z]|$)`), '');
}
