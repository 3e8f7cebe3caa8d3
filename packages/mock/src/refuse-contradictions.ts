import {
  listFaults,
  refuseFaults,
  type ScheduleInput,
  settingsFaults,
  windowFaults,
} from '@trunkline/server/dialing/campaigns/campaign-settings';
import { checkContext, checkHeaders } from '@trunkline/server/dialing/workflows/check-run-request';
import type { Input, OperationId } from '@trunkline/server/foundation/http/handler';
import { refuse } from '@trunkline/server/foundation/values/service-error';
import { contradictions } from '@trunkline/server/lines/number-pools/contradictions';
import { trunkChoiceFaults } from '@trunkline/server/lines/phone-numbers/trunk-choice';

type Checks = { [Id in OperationId]?: (input: Input<Id>) => void };

/**
 * What a request says against itself, and no schema can refuse, by the server's own rules. Rules that hang on a server's
 * settings or on what it holds are not here: every number, agent and URL is a good one.
 */
const checks: Checks = {
  createCampaign: ({ body }) => refuseFaults([...scheduleFaults(body), ...listFaults(body.lists)]),
  startBatch: ({ body }) => refuseFaults(scheduleFaults(body)),
  importPhoneNumbers: ({ body }) => refuse(trunkChoiceFaults(body)),
  updateNumberPool: ({ body }) => refuse(contradictions(body)),
  startWorkflowRun({ headers, body }) {
    checkHeaders(headers['Concurrency-Key'], headers['Cooldown-Minutes']);
    checkContext(body.context ?? {});
  },
};

/** Throws `invalid_request` where a request to an operation says what can't be. */
export function refuseContradictions(id: OperationId, input: object): void {
  (checks[id] as ((input: object) => void) | undefined)?.(input);
}

interface Schedule extends ScheduleInput {
  timezone?: string;
  scheduledAt?: string | null;
  startDate?: string | null;
  endDate?: string | null;
}

function scheduleFaults(body: Schedule) {
  const { timezone = 'UTC', scheduleStart = null, scheduleEnd = null } = body;
  const settings = {
    timezone,
    schedule_start: scheduleStart,
    schedule_end: scheduleEnd,
    max_concurrency: 1,
    scheduled_at: dateOf(body.scheduledAt),
    start_date: dateOf(body.startDate),
    end_date: dateOf(body.endDate),
  };
  return [...settingsFaults(settings, 1), ...windowFaults(body)];
}

const dateOf = (text: string | null | undefined) => (text == null ? null : new Date(text));
