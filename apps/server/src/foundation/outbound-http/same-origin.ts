/** Whether two URLs have the same scheme, host and port: what was given for one of them may then go to the other. */
export const isSameOrigin = (one: string, other: string): boolean => new URL(one).origin === new URL(other).origin;

/** What is said of something secret that a change of its `url` would take to another origin. */
export const GIVE_AGAIN =
  'must be given again, with an address of another scheme, host or port: what is secret goes only to the address that it was given with';
