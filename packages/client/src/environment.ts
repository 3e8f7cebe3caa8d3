interface Process {
  env?: Record<string, string | undefined>;
  versions?: object;
}

/** Node's, Deno's or Bun's; a browser has none. */
const { process } = globalThis as { process?: Process };

/** A variable of the environment, where there is one. */
export const variable = (name: string): string | undefined => process?.env?.[name] || undefined;

/** Says who asks, where the platform lets us: a page in a browser is asked whether it may. */
export const userAgent = process?.versions ? { 'User-Agent': '@trunkline/client/0.2.0' } : {};
