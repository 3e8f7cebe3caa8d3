/** What `engines` of package.json says, and Prism asks for. */
const OLDEST = [24, 18] as const;

/** Throws where this Node is older. It is asked before any module is loaded that an older one can't read. */
export function refuseOldNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new Error(`The Trunkline mock needs Node ${OLDEST.join('.')} or newer; this is ${process.versions.node}.`);
}
