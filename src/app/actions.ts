// The performers of a plan's actions: MCP servers from the configuration, files inside the vault or repository, notes to people.

import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import type { McpServer } from '../actions/mcp/server.ts';
import type { Performer } from '../agents/performer.ts';
import { userConfigDirectory } from '../config/home.ts';
import type { ReadMcpServers } from '../config/mcp.ts';
import type { RunConfig } from '../config/resolve.ts';
import type { Config } from '../config/settings.ts';
import type { ApprovedTerms } from '../core/settings.ts';
import type { TaskSpec } from '../core/task.ts';
import type { ParsedDocument } from '../documents/document.ts';
import { sha256Of } from '../engine/checkpoints.ts';
import { UsageError } from '../text/errors.ts';
import { vaultRootOf } from '../text/step-path.ts';
import type { AgentNeeds } from './agents/performers.ts';
import { processLimits } from './agents/process-limits.ts';
import { callMs, limitsInFiles, withinTerms } from './approved-terms.ts';

const prefix = 'mcp:';

/** Where the servers are named: never in the repository unless a person points there, for a server is a program. */
function configPath(needs: Pick<AgentNeeds, 'config' | 'env' | 'directory'>): string {
  const path = serversPath(needs);
  if (path !== undefined) return path;
  throw new UsageError(
    'Nobody knows where your configuration lies.',
    'Name the file of MCP servers: --mcp-config FILE',
  );
}

/** Undefined: nobody knows where the user's configuration lies. */
export function serversPath({ config, env, directory }: Pick<AgentNeeds, 'config' | 'env' | 'directory'>) {
  if (config.mcpConfig !== undefined) return resolve(directory, config.mcpConfig);
  const found = userConfigDirectory(env);
  return 'path' in found ? join(found.path, 'mcp.json') : undefined;
}

const missingWords = (name: string, path: string, { isThere, servers }: ReadMcpServers): string => {
  const known = servers.length === 0 ? 'none' : servers.map(one => one.name).join(', ');
  return `No MCP server is called ${JSON.stringify(name)}: ${isThere ? `${path} names ${known}` : `there is no ${path}`}.`;
};

async function readConfigured(needs: Pick<AgentNeeds, 'config' | 'env' | 'directory'>) {
  const { readMcpServers } = await import('../config/mcp.ts');
  const path = configPath(needs);
  return { path, read: await readMcpServers(path, needs.env) };
}

/** One sentence for each server that is not configured. */
export async function missingServers(
  needs: Pick<AgentNeeds, 'config' | 'env' | 'directory'>,
  names: readonly string[],
): Promise<readonly string[]> {
  const { path, read } = await readConfigured(needs);
  const [problem] = read.problems;
  if (problem !== undefined) throw new UsageError(problem.message);
  return names.filter(name => !read.servers.some(one => one.name === name)).map(name => missingWords(name, path, read));
}

export interface TermsPlace extends Pick<RunConfig, 'config' | 'settings' | 'sources'> {
  readonly env: AgentNeeds['env'];
  readonly directory: string;
}

/** What files say now of limits and of the servers of these tasks; a server that is not there yet is not among them. */
export async function termsNow(place: TermsPlace, tasks: readonly TaskSpec[]): Promise<ApprovedTerms> {
  const wanted = tasks.flatMap(({ order }) => (order?.type === 'mcp' ? [order.server] : []));
  const isKnown = wanted.length > 0 && serversPath(place) !== undefined;
  const { servers = [], written = {} } = isKnown ? (await readConfigured(place)).read : {};
  const rows = servers
    .filter(server => wanted.includes(server.name))
    .map(server => {
      const hash = sha256Of(written[server.name] ?? '');
      return [server.name, { hash, callMsMax: callMs(server), idempotent: server.idempotent }];
    });
  return { limits: limitsInFiles(place), servers: Object.fromEntries(rows) };
}

/** Exit 7 when a server that a step names is not configured: nothing is written before this is known. */
async function serversFor(needs: ActionNeeds, names: readonly string[]): Promise<readonly McpServer[]> {
  if (names.length === 0) return [];
  const { path, read } = await readConfigured(needs);
  const [problem, ...more] = read.problems;
  if (problem !== undefined) throw new UsageError(problem.message, more.map(one => one.message).join('\n  '));
  return names.map(name => {
    const server = read.servers.find(one => one.name === name);
    if (server !== undefined) return withinTerms(server, sha256Of(read.written[name] ?? ''), needs.approved);
    throw new UsageError(missingWords(name, path, read), 'Write it there, or name another file: --mcp-config FILE', 7);
  });
}

/** Files that a plan may not make, in the words of the action that would refuse them: a sentence for each step. */
export async function refusedFiles(
  tasks: readonly TaskSpec[],
  roots: { readonly vault: string; readonly repository: string },
): Promise<readonly string[]> {
  const { placeOf } = await import('../actions/create-file.ts');
  const refused: string[] = [];
  for (const { id, order } of tasks) {
    const place = order?.type === 'create_file' ? await placeOf(order.path, roots) : undefined;
    if (order?.type === 'create_file' && place !== undefined && 'problem' in place)
      refused.push(`${id} cannot make ${JSON.stringify(order.path)}: it ${place.problem}.`);
  }
  return refused;
}

interface ActionNeeds extends AgentNeeds {
  readonly path: string;
  readonly document: ParsedDocument;
  /** What files said when the plan was approved; absent: nobody recorded it. */
  readonly approved?: ApprovedTerms | undefined;
}

export async function buildActions(needs: ActionNeeds): Promise<Readonly<Record<string, Performer>>> {
  const { tasks, id = '', goal } = needs.document;
  const wanted = [...new Set(tasks.flatMap(task => task.performer ?? []))];
  if (wanted.length === 0) return {};
  const { directory, env, path } = needs;
  const vault = vaultRootOf(path, directory);
  const names = wanted.filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length));
  const servers = await serversFor(needs, names);
  const { mcpTool } = await import('../actions/mcp/tool.ts');
  const { createFile } = await import('../actions/create-file.ts');
  const { notifyHuman } = await import('../actions/notify-human.ts');
  const limits = processLimits(needs);
  const tools = servers.map(server => [`${prefix}${server.name}`, mcpTool({ server, environment: env, ...limits })]);
  const plan = { id, objective: goal, document: relative(vault, path) };
  return {
    ...Object.fromEntries(tools),
    create_file: createFile({ vault, repository: directory }),
    notify_human: notifyHuman({ vault, plan }),
  };
}

// The file of MCP servers when it lies where agents work: said, and refused once it differs from the loop's first run.

interface Needs {
  readonly config: Pick<Config, 'mcpConfig'>;
  readonly directory: string;
  readonly document: Pick<ParsedDocument, 'tasks'>;
}

/** The file that names the servers of this plan, when agents can write it; undefined: they cannot, or none is needed. */
export async function configInReach({ config, directory, document }: Needs): Promise<string | undefined> {
  const isNeeded = document.tasks.some(task => task.performer?.startsWith(prefix) === true);
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
export async function refuseChangedConfig(path: string, folder: string): Promise<void> {
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
