// Makes the tables of the README from results.json.
import { writeReadme } from './results.ts';

writeReadme();
