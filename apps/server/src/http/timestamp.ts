const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * Whether a text is an RFC 3339 time that `Date` reads as it is meant. The validator's own check lets a leap second
 * through, of which `Date` and the database make nothing.
 */
export function isTimestamp(text: string): boolean {
  const [, year, month, day] = RFC_3339.exec(text)?.map(Number) ?? [];
  if (!year || !month || !day || month > 12) return false;
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
