// A file of MCP servers that lies where agents work: said, and held to what it was when its loop first ran.
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import type { Config } from '../config/settings.ts';
import { UsageError } from '../text/errors.ts';
import { sha256Of } from '../engine/records.ts';
import type { ParsedDocument } from '../documents/document.ts';

interface Needs {
  readonly config: Pick<Config, 'mcpConfig'>;
  readonly directory: string;
  readonly document: Pick<ParsedDocument, 'tasks'>;
}

/** The file that names the servers of this plan, when agents can write it; undefined: they cannot, or none is needed. */
export async function configInReach({ config, directory, document }: Needs): Promise<string | undefined> {
  const isNeeded = document.tasks.some(task => task.performer?.startsWith('mcp:') === true);
  if (config.mcpConfig === undefined || !isNeeded) return undefined;
  const path = resolve(directory, config.mcpConfig);
  const real = await Promise.all([path, directory].map(one => realpath(one).catch(() => one)));
  return [path, real[0]].some(one => [directory, real[1]].some(folder => one?.startsWith(`${folder}${sep}`) === true))
    ? path
    : undefined;
}

export const reachNotice = (path: string): string =>
  `${path} lies in the folder of work, where agents can change it; keep it in your user configuration.`;

/** A server is a program, so a file that was edited since the first run starts none (exit 5). `folder`: of the loop. */
export async function holdConfig(path: string, folder: string): Promise<void> {
  const hash = sha256Of(await readFile(path, 'utf8').catch(() => ''));
  const kept = join(folder, 'mcp-config.sha256');
  const before = await readFile(kept, 'utf8').catch(() => undefined);
  if (before === hash) return;
  if (before !== undefined)
    throw new UsageError(
      `${path} was changed since this loop first ran, and an agent can write there.`,
      'Look at it. Put it back as it was, or keep it where agents do not work: mcp.json of your user configuration.',
      5,
    );
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(kept, hash, { mode: 0o600 });
}
