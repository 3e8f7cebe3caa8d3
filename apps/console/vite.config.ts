import tailwind from '@tailwindcss/vite';
import { defaultClientConditions, defineConfig } from 'vite';

export default defineConfig({
  base: '/console/',
  plugins: [tailwind()],
  // The client of this repository, from its sources.
  resolve: { conditions: ['source', ...defaultClientConditions] },
  // What is inline the server's policy forbids.
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
    // Base UI marks each file for servers that render, which means nothing here.
    rolldownOptions: {
      onLog: (level, log, tell) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') tell(level, log);
      },
    },
  },
  // `TRUNKLINE_BASE_URL=http://localhost:8080 vite` works on the console with a server that runs.
  server: {
    proxy: { '^/(v1|objects|talk|readyz|docs)': process.env['TRUNKLINE_BASE_URL'] ?? 'http://localhost:8080' },
  },
});
