import type { Generated } from 'kysely';

interface SimulatorCallsTable {
  room_id: string;
  to_number: string;
  attempt: number;
  placed_at: Date;
  ring_timeout_seconds: number;
  max_call_seconds: number;
  ended_at: Date | null;
  ended_by: string | null;
  outcome: string | null;
  placements: Generated<number>;
}

interface SimulatorNumbersTable {
  phone_number: string;
  idempotency_key: string;
  bought_at: Date;
}

export interface SimulatorTables {
  simulator_calls: SimulatorCallsTable;
  simulator_numbers: SimulatorNumbersTable;
}
