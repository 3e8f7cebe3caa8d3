import pg from 'pg';

const { builtins } = pg.types;
const INT4_ARRAY: number = 1007;
const INT8_ARRAY = 1016;

/** The driver's parser of int4[] makes numbers, and serves int8[] too. */
const asNumbers = pg.types.getTypeParser(INT4_ARRAY, 'text');
const asText = (value: string) => value;

/**
 * How columns become values: bigint as a number (ours stay below 2⁵³), date as its text, since a JavaScript Date would
 * move it by the time zone. The rest as the driver does: timestamptz as Date, numeric as text.
 */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === builtins.INT8) return Number;
    if (oid === INT8_ARRAY) return asNumbers;
    if (oid === builtins.DATE) return asText;
    return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
  },
};
