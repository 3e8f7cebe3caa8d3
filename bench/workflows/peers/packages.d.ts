// The little of the peers' packages that is called. They aren't installed where types are checked.

declare module '@dbos-inc/dbos-sdk' {
  interface SystemDatabase {
    systemDatabaseUrl: string;
    systemDatabasePoolSize: number;
  }
  type Workflow = (steps: number) => Promise<void>;
  interface Handle {
    getResult(): Promise<void>;
  }
  export const DBOS: {
    setConfig(config: SystemDatabase & { name: string; logLevel: string }): void;
    registerWorkflow(workflow: Workflow, config: { name: string }): Workflow;
    runStep<Result>(step: () => Promise<Result>, config: { name: string }): Promise<Result>;
    launch(): Promise<void>;
    registerQueue(name: string): Promise<unknown>;
    startWorkflow(workflow: Workflow, params: { workflowID: string }): (steps: number) => Promise<Handle>;
  };
  interface EnqueueOptions {
    workflowName: string;
    queueName: string;
    workflowID: string;
  }
  export class DBOSClient {
    static create(config: SystemDatabase): Promise<DBOSClient>;
    enqueue(options: EnqueueOptions, steps: number): Promise<Handle>;
    destroy(): Promise<void>;
  }
}

declare module '@restatedev/restate-sdk' {
  interface Context {
    run<Result>(name: string, step: () => Result): Promise<Result>;
  }
  type Handler = (context: Context, input: { steps: number }) => Promise<void>;
  interface Service {
    name: string;
    handlers: Record<string, Handler>;
  }
  export function service(definition: Service): Service;
  export function serve(options: { services: Service[]; port: number; logger: () => void }): Promise<number>;
}
