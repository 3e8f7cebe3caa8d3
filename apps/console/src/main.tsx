import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import './app.css';

// The server has been upgraded under an open page: what that loads later is gone. If it is away, the page stays.
addEventListener('vite:preloadError', async () => {
  const { ok } = await fetch(location.href).catch(() => ({ ok: false }));
  if (ok) location.reload();
});

createRoot(document.getElementById('console')!).render(<App />);
