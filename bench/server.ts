// A whole Trunkline server with the settings of the environment that it is given.
import { loadConfig } from '../apps/server/src/config.ts';
import { startServer } from '../apps/server/src/server.ts';
import { settingsOf, tell } from './child.ts';
import { log } from './postgres.ts';

const environment = settingsOf<Record<string, string>>();
const { url } = await startServer({ config: loadConfig({ HOST: '127.0.0.1', PORT: '0', ...environment }), log });
tell(Number(new URL(url).port));
