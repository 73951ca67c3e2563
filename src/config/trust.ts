// Trust in a project's config: what only a user may set counts there once the user has said so, for exactly these values (B29).
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonical } from '../text/canonical.ts';
import { fieldsOf } from '../text/fields.ts';
import type { Values } from './fields.ts';

/** Beside the user's own config: agents that are confined may only read it. */
const fileName = 'trusted.json';

/** Of the values alone: what else the file says may change, and another folder with the same is another matter. */
const fingerprint = (directory: string, values: Values): string =>
  createHash('sha256').update(canonical({ directory, values })).digest('hex');

async function trusted(userDirectory: string): Promise<readonly string[]> {
  try {
    const known = fieldsOf(JSON.parse(await readFile(join(userDirectory, fileName), 'utf8')))['trusted'];
    return Array.isArray(known) ? known.filter(one => typeof one === 'string') : [];
  } catch {
    return []; // not there, or broken: nothing is trusted
  }
}

export async function isTrusted(userDirectory: string | undefined, directory: string, values: Values) {
  return userDirectory !== undefined && (await trusted(userDirectory)).includes(fingerprint(directory, values));
}

export async function trust(userDirectory: string, directory: string, values: Values): Promise<void> {
  const all = [...new Set([...(await trusted(userDirectory)), fingerprint(directory, values)])];
  await mkdir(userDirectory, { recursive: true, mode: 0o700 });
  const path = join(userDirectory, fileName);
  await writeFile(`${path}.new`, `${JSON.stringify({ trusted: all }, undefined, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
