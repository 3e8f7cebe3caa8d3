// The handlers that the Restate server calls.
import { serve, service } from '@restatedev/restate-sdk';
import { tell } from '../../child.ts';

let ended = 0;

const bench = service({
  name: 'bench',
  handlers: {
    run: async (context, { steps }) => {
      for (let i = 0; i < steps; i += 1) await context.run(`step ${i}`, () => i);
      ended += 1;
    },
  },
});

tell(await serve({ services: [bench], port: 0, logger: () => {} }), async () => ended);
