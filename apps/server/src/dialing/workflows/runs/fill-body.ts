import type { Context } from '../definitions/definition.ts';
import { fillText, fillValue, isTemplate } from '../definitions/fill-template.ts';
import { parseTemplates } from '../definitions/parse-template.ts';
import { withoutTemplates } from '../definitions/template-paths.ts';

/**
 * The body of an `http` node that is given as text. In a text that is JSON, what is filled in between quotes is escaped as
 * JSON, so that no value of a run ends the text in which it stands and adds properties of its own.
 * @throws StepError as `fillText`
 */
export function fillBody(text: string, context: Context): unknown {
  if (isTemplate(text) || !isJson(withoutTemplates(text, '0'))) return fillValue(text, context);
  const quoted = templatesInQuotes(text);
  return fillText(text, context, (value) => (quoted.next().value ? JSON.stringify(value).slice(1, -1) : value));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Of each template in its order, whether it stands between the quotes of a JSON text. */
function* templatesInQuotes(text: string): Generator<boolean, undefined> {
  let isQuoted = false;
  for (const part of parseTemplates(text).parts) {
    if (typeof part !== 'string') yield isQuoted;
    else for (const [mark] of part.matchAll(/\\.|"/gs)) if (mark === '"') isQuoted = !isQuoted;
  }
  return undefined;
}
