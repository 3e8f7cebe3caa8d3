import type { Row } from '../../foundation/database/schema.ts';

/** What calls that agents have asked for keep to: the hours of the first call, and how many there were. */
export type CallBackTerms = NonNullable<Row<'calls'>['call_back_terms']>;
