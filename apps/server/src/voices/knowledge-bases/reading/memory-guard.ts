import { parentPort, workerData } from 'node:worker_threads';
import type { ReadingLimits } from './limits.ts';

const LOOK_MS = 50;

// A thread beside the reader: the heap has a limit of its own, but what lies outside of it has none, and the reader may
// be too busy to look. It also ends a reader whose server is gone.
const { memoryMebibytes, seconds } = workerData as ReadingLimits;
const end = () => process.kill(process.pid, 'SIGKILL');
setTimeout(end, (seconds + 10) * 1000);
setInterval(() => {
  if (process.memoryUsage.rss() > memoryMebibytes * 1024 * 1024) end();
}, LOOK_MS);
parentPort!.postMessage('watching');
