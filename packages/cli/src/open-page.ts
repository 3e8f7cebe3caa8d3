import { spawn } from 'node:child_process';

const openers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a page in the browser of whoever sits here. Nothing is told if there is none. */
export function openPage(url: string): void {
  const [program = '', ...first] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...first, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
