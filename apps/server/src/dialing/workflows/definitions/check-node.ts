import { readTimeZone, timeZoneFault } from '../../../audience/contact-lists/reading/time-zone.ts';
import { isE164 } from '../../../foundation/values/e164.ts';
import { isTimestamp } from '../../../foundation/values/timestamp.ts';
import type { CallNode, Condition, HttpNode, Node, WaitNode } from './definition.ts';
import { isTemplate, wholeTemplate } from './fill-template.ts';
import { isNeverKey } from './look-up.ts';
import { textsOf } from './node-texts.ts';
import { parseTemplates } from './parse-template.ts';
import { placeFault } from './place.ts';
import { filteredTemplates, templatePaths, withoutTemplates } from './template-paths.ts';

/** A fault of a node: where in it, and what would be right. */
export interface NodeFault {
  at: string;
  message: string;
}

/** What is wrong with a node in itself, whatever leads to it. */
export function checkNode(node: Node): NodeFault[] {
  return [...checkTemplates(node), ...checkKey(node), ...checkShape(node)];
}

function checkShape(node: Node): NodeFault[] {
  switch (node.type) {
    case 'call':
      return checkCall(node);
    case 'wait':
      return checkWait(node);
    case 'branch':
      return node.cases.flatMap(({ when }, index) =>
        checkCondition(when).map(({ at, message }) => ({ at: `cases/${index}/when/${at}`, message })),
      );
    case 'http':
      return checkHttp(node);
    default:
      return [];
  }
}

/** Most templates with filters in one node: each takes some fifty microseconds when its step is carried out. */
const MOST_FILTERED = 200;

function checkTemplates(node: Node): NodeFault[] {
  let filtered = 0;
  return textsOf(node).flatMap(({ at, text }) => {
    const before = filtered;
    filtered += filteredTemplates(text);
    if (before <= MOST_FILTERED && filtered > MOST_FILTERED)
      return [{ at, message: `A node takes at most ${MOST_FILTERED} templates with filters.` }];
    const { fault } = parseTemplates(text);
    if (fault !== undefined) return [{ at, message: fault }];
    const unusable = templatePaths(text).find((path) => path.split('.').some((key) => key === '' || isNeverKey(key)));
    return unusable === undefined ? [] : [{ at, message: `{{${unusable}}} can never have a value.` }];
  });
}

function checkKey(node: Node): NodeFault[] {
  if (!('saveAs' in node) || node.saveAs === undefined || !isNeverKey(node.saveAs)) return [];
  return [{ at: 'saveAs', message: `${node.saveAs} can not be a key of the context.` }];
}

/** Of two fields a node must have exactly one. */
function oneOf(node: object, one: string, other: string): NodeFault[] {
  if (one in node !== other in node) return [];
  return [{ at: one, message: `Give exactly one of ${one} and ${other}.` }];
}

function checkCall(node: CallNode): NodeFault[] {
  const number = oneOf(node, 'fromNumber', 'numberPoolId');
  if (node.timezone !== undefined && readTimeZone(node.timezone) === undefined) {
    number.push({ at: 'timezone', message: timeZoneFault(node.timezone) });
  }
  if (node.to.includes('{{') || isE164(node.to)) return number;
  return [...number, { at: 'to', message: 'Give a phone number in E.164 form, such as +14155550100, or a template.' }];
}

function checkWait(node: WaitNode): NodeFault[] {
  const time = oneOf(node, 'seconds', 'until');
  if (typeof node.until === 'object') {
    const { of } = node.until;
    const fault = of.includes('{{') ? undefined : placeFault(of);
    return fault === undefined ? time : [...time, { at: 'until/of', message: fault }];
  }
  if (node.until === undefined || node.until.includes('{{') || isTimestamp(node.until)) return time;
  return [...time, { at: 'until', message: 'Give a time such as 2026-11-20T09:30:00Z, or a template.' }];
}

function checkCondition({ left, operator, right }: Condition): NodeFault[] {
  if (operator === 'exists' || operator === 'not_exists') {
    const faults: NodeFault[] = [];
    if (wholeTemplate(left) === undefined) {
      const nothing = isTemplate(left) ? 'no filters' : 'nothing else';
      faults.push({ at: 'left', message: `${operator} needs one template and ${nothing}, such as {{key}}.` });
    }
    if (right !== undefined) faults.push({ at: 'right', message: `${operator} takes no right side.` });
    return faults;
  }
  if (right === undefined) return [{ at: 'right', message: `${operator} needs a right side.` }];
  const isList = Array.isArray(right) || (typeof right === 'string' && wholeTemplate(right) !== undefined);
  if (operator === 'in' && !isList)
    return [{ at: 'right', message: 'in needs an array, or a template that gives one.' }];
  if (operator !== 'in' && Array.isArray(right)) return [{ at: 'right', message: 'Only in takes an array.' }];
  return [];
}

/** What the connection needs, and what would lead the answer astray. */
const OWN_HEADERS = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);
/** What says nothing secret, so that it may go to any address. */
const PLAIN_HEADERS = /^(accept|accept-.*|content-.*|cache-control|prefer|user-agent|idempotency-key)$/i;
const CONTROL = /[^\t\x20-\x7e\x80-\xff]/;

/** Whether the values of a run decide where a URL leads: a template stands before its path. */
const isOriginFilledIn = (url: string): boolean =>
  /^[^/\\?#]*[/\\]*[^/\\?#]*/.exec(url.replace(/[\t\n\r]/g, ''))![0].includes('{{');

function checkHttp({ method, url, headers = {}, body }: HttpNode): NodeFault[] {
  const faults: NodeFault[] = [];
  if (!isTemplate(url)) {
    const parsed = URL.parse(withoutTemplates(url, 'x'));
    if (!parsed || !/^https?:$/.test(parsed.protocol))
      faults.push({
        at: 'url',
        message: 'Give an http:// or https:// URL, or one template that gives the whole of it.',
      });
    else if (parsed.username !== '' || parsed.password !== '')
      faults.push({ at: 'url', message: 'Put credentials into a header, not into the URL.' });
  }
  for (const [name, value] of Object.entries(headers)) {
    if (OWN_HEADERS.has(name.toLowerCase()))
      faults.push({ at: `headers/${name}`, message: 'The server sets this header.' });
    else if (CONTROL.test(value))
      faults.push({ at: `headers/${name}`, message: 'A header takes Latin letters, in one line.' });
    else if (isOriginFilledIn(url) && !value.includes('{{') && !PLAIN_HEADERS.test(name))
      faults.push({
        at: `headers/${name}`,
        message:
          'What is written out here would go to whatever address a run names: write the scheme, host and port of the url out, or take this value from a template too.',
      });
  }
  if (method === 'GET' && body !== undefined) faults.push({ at: 'body', message: 'A GET request has no body.' });
  return faults;
}
