const RFC_3339 =
  /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * Whether a text is an RFC 3339 time that `Date` reads as it is meant, and that can be told in UTC by four digits of a
 * year. The validator's own check lets a leap second through, of which `Date` and the database make nothing.
 */
export function isTimestamp(text: string): boolean {
  if (!RFC_3339.test(text)) return false;
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8, 10))];
  if (year === 0 || month === 0 || month > 12 || day === 0) return false;
  if (day > 28 && day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return false;
  if (year > 1 && year < 9999) return true;
  const inUtc = new Date(text).getUTCFullYear();
  return inUtc >= 1 && inUtc <= 9999;
}
