import { parentPort, workerData } from 'node:worker_threads';
import { lowerThisThread } from '../../foundation/values/low-priority.ts';
import { fileFrom } from './file-from.ts';
import { previewContacts } from './reading/preview-contacts.ts';
import type { ReadOptions } from './reading/read-contacts.ts';
import { shapePreview } from './shape-preview.ts';
import { ask } from './validation-channel.ts';

lowerThisThread();
const preview = shapePreview(await previewContacts(fileFrom(parentPort!), workerData as ReadOptions));
await ask(parentPort!, 'previewed', { preview });
parentPort!.close();
