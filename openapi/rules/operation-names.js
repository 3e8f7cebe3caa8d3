import { PERMISSIONS } from './closed-lists.js';

const CAMEL_CASE = /^[a-z]+([A-Z][a-z]+)*$/;

/** Every operation has a camelCase operationId of its own, and names one permission of the closed list. */
export function operationNames() {
  const seen = new Set();
  return {
    Paths: {
      Operation(operation, { report, location }) {
        const { operationId } = operation;
        if (typeof operationId !== 'string' || !CAMEL_CASE.test(operationId)) {
          report({ message: 'operationId must be camelCase.', location: location.child('operationId').key() });
        } else if (seen.has(operationId)) {
          report({ message: `operationId ${operationId} stands twice.`, location: location.child('operationId') });
        }
        seen.add(operationId);
        if (!PERMISSIONS.includes(operation['x-permission'])) {
          const message = `x-permission must be one of the closed list, not ${operation['x-permission']}.`;
          report({ message, location: location.child('x-permission').key() });
        }
      },
    },
  };
}
