import { writeFileSync } from 'node:fs';

/** A reporter of vitest: writes down what was thrown outside of all tests, which its JSON report does not tell. */
export default class OutsideErrors {
  onTestRunEnd(_modules, errors) {
    const [first] = errors;
    if (first) writeFileSync(process.env.TEST_OUTSIDE, String(first.message).split('\n')[0]);
  }
}
