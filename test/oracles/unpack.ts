// Writes a packed folder (relative path to base64, as gzipped JSON) into a scratch place.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export function unpack(file: string, target: string): void {
  const text = gunzipSync(readFileSync(join(import.meta.dirname, file))).toString('utf8');
  for (const [path, content] of Object.entries(JSON.parse(text) as Record<string, string>)) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), Buffer.from(content, 'base64'));
  }
}
