const ALWAYS = ['401', '403', '429', '500', '503'];
/** What an operation that needs such a permission can't answer. */
const NEVER = { anyone: '401', operator: '403' };
const CHANGES = ['patch', 'put'];

/** The error statuses that an operation can't help answering. */
function required(operation, parameters, verb) {
  const statuses = ALWAYS.filter((status) => NEVER[operation['x-permission']] !== status);
  if (operation['x-permission'] === 'operator') statuses.push('404');
  if (parameters.length > 0 || operation.requestBody) statuses.push('400');
  if (parameters.some((parameter) => parameter?.in === 'path')) statuses.push('404');
  if (operation.requestBody) statuses.push('408', '413', '415');
  if (CHANGES.includes(verb)) statuses.push('412');
  return statuses;
}

/**
 * Every operation declares one success or more, and each error status that it can't help answering: 400 with input, 404
 * with an ID in the path, 408, 413 and 415 with a body, 412 where something is changed, and 401, 403, 429, 500 and 503
 * always, but for 401 where anyone may ask, and 403 where only the operator's key is known: then 404 where there is none. What
 * changes something takes `If-Match`.
 */
export function operationStatuses() {
  return {
    Paths: {
      PathItem: {
        Operation(operation, { report, location, resolve, key }, { PathItem }) {
          const parameters = [...(PathItem.parameters ?? []), ...(operation.parameters ?? [])];
          const resolved = parameters.map((parameter) => resolve(parameter).node);
          const declared = Object.keys(operation.responses ?? {});
          const missing = required(operation, resolved, key).filter((status) => !declared.includes(status));
          const at = location.child('responses').key();
          if (missing.length > 0) report({ message: `The statuses ${missing.join(', ')} are missing.`, location: at });
          if (CHANGES.includes(key) && !resolved.some((parameter) => parameter?.name === 'If-Match')) {
            report({ message: 'The parameter If-Match is missing.', location: location.key() });
          }
          if (!declared.some((status) => /^2\d\d$/.test(status))) {
            report({ message: 'A success status is missing.', location: at });
          }
        },
      },
    },
  };
}
