import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import type { InTestSlot } from '../../foundation/outbound-http/test-slots.ts';
import type { Clock } from '../../foundation/values/clock.ts';

import type { Sentences } from '../speech/sentences.ts';
import type { OperatorModel } from './operator-model.ts';
import type { TemplateFault } from './realtime.ts';

/** What agents need. */
export interface AgentDeps {
  database: Database;
  clock: Clock;
  secrets: Secrets;
  guard: AddressGuard;
  inTestSlot: InTestSlot;
  templateFault: TemplateFault;
  operatorModel: OperatorModel | undefined;
  sentences: Sentences;
  /** Has those go on that wait for an agent which failed, in the transaction that opens it. */
  onOpened: (tx: WorkspaceTx, agentId: string, now: Date) => Promise<void>;
}
