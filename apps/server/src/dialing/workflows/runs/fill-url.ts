import type { Context } from '../definitions/definition.ts';
import { fillText, isTemplate } from '../definitions/fill-template.ts';

/**
 * The URL of an `http` node. Filled-in values are percent-encoded, so that none of them adds a path, a query or a host of
 * its own; only a URL that is one template and nothing else is taken as its value says. `undefined` where values make a
 * path with `.` or `..` in it, which would lead out of the place that the definition names.
 * @throws StepError as `fillText`
 */
export function fillUrl(url: string, context: Context): string | undefined {
  if (isTemplate(url)) return fillText(url, context);
  const filled = fillText(url, context, encodeURIComponent);
  const path = filled.replace(/[?#].*$/s, '');
  return /\/(\.|%2e){1,2}(\/|$)/i.test(path) ? undefined : filled;
}
