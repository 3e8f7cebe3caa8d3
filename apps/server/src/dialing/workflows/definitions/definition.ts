import type { components } from '../../../foundation/values/generated/contract.ts';

type Schemas = components['schemas'];

/** A graph of nodes, as the contract has it. A draft may be half done; what was published has passed `checkDefinition`. */
export type Definition = Schemas['WorkflowDefinition'];
/** One node; `type` tells which shape it has. */
export type Node = Schemas['WorkflowNode'];
export type CallNode = Schemas['WorkflowCallNode'];
export type WaitNode = Schemas['WorkflowWaitNode'];
export type BranchNode = Schemas['WorkflowBranchNode'];
export type HttpNode = Schemas['WorkflowHttpNode'];
export type ChildNode = Schemas['WorkflowRunNode'];
export type Condition = Schemas['WorkflowCondition'];

/** The values of a run, by key: JSON, from clients and from answers of `http` nodes. */
export type Context = Readonly<Record<string, unknown>>;
