import { errorResponses } from './error-responses.js';
import { examplesPresent } from './examples-present.js';
import { operationNames } from './operation-names.js';
import { operationStatuses } from './operation-statuses.js';
import { propertiesDescribed } from './properties-described.js';
import { requestBounds } from './request-bounds.js';
import { schemaKeywords } from './schema-keywords.js';

/** The contract's own lint rules, for Redocly. Each is a file of its name. */
export default function plugin() {
  return {
    id: 'trunkline',
    rules: {
      oas3: {
        'error-responses': errorResponses,
        'examples-present': examplesPresent,
        'operation-names': operationNames,
        'operation-statuses': operationStatuses,
        'properties-described': propertiesDescribed,
        'request-bounds': requestBounds,
        'schema-keywords': schemaKeywords,
      },
    },
  };
}
