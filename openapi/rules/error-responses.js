import { CODES_BY_STATUS } from './closed-lists.js';

/** The codes in the examples of a response. */
function shownCodes(response, file, resolve) {
  const examples = response.content?.['application/json']?.examples ?? {};
  return Object.values(examples).map((example) => resolve(example, file).node?.value?.code);
}

/** Every error response lists the codes it bears in `x-error-codes`, all of its status, with an example of each. */
export function errorResponses() {
  return {
    Paths: {
      Operation(operation, { report, location, resolve }) {
        for (const [status, reference] of Object.entries(operation.responses ?? {})) {
          if (!/^[45]/.test(status)) continue;
          const { node: response, location: found } = resolve(reference);
          if (!response) continue;
          const at = location.child(['responses', status]);
          const codes = response['x-error-codes'] ?? [];
          if (codes.length === 0) report({ message: `${status} lists no x-error-codes.`, location: at.key() });
          for (const code of codes) {
            if (CODES_BY_STATUS[status]?.includes(code)) continue;
            report({ message: `${code} is no code of ${status}.`, location: at.key() });
          }
          const shown = shownCodes(response, found?.source.absoluteRef, resolve);
          for (const code of codes.filter((each) => !shown.includes(each))) {
            report({ message: `${status} has no example of ${code}.`, location: at.key() });
          }
          for (const code of shown.filter((each) => !codes.includes(each))) {
            report({ message: `${status} shows ${code}, which its x-error-codes don't list.`, location: at.key() });
          }
        }
      },
    },
  };
}
