import type { TrunklineClient } from '@trunkline/client';

type Given<
  Group extends keyof TrunklineClient,
  Name extends keyof TrunklineClient[Group],
> = TrunklineClient[Group][Name] extends (...given: infer Arguments) => unknown ? Arguments : never;

/** What a method takes first, such as the body of a create. */
export type First<Group extends keyof TrunklineClient, Name extends keyof TrunklineClient[Group]> = NonNullable<
  Given<Group, Name>[0]
>;
/** What a method takes behind an ID, such as the body of an update. */
export type Second<Group extends keyof TrunklineClient, Name extends keyof TrunklineClient[Group]> = NonNullable<
  Given<Group, Name>[1]
>;
