// The version of this code: built in by the bundler, read from package.json when run from source.
import { readFileSync } from 'node:fs';

declare global {
  var RALPH_VERSION: string | undefined;
}

export function version(): string {
  return globalThis.RALPH_VERSION ?? sourceVersion();
}

function sourceVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
