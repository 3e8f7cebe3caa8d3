import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import './app.css';

// The server has been upgraded under an open page: what that loads later is gone.
addEventListener('vite:preloadError', () => location.reload());

createRoot(document.getElementById('console')!).render(<App />);
