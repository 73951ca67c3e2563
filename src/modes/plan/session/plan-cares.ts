// What a plan asks for that this machine could not do today: said to whoever reads or approves it, and never a refusal.
import { type Environment, resolveRunConfig } from '../../../app/app.ts';
import { UsageError } from '../../../text/errors.ts';
import { stepPath } from '../../../text/step-path.ts';
import type { TaskSpec } from '../../../core/task.ts';
import { missingServers } from '../../../app/actions.ts';

export interface PlanPlace {
  readonly env: Environment;
  /** The folder of work. */
  readonly directory: string;
  /** The vault. */
  readonly root: string;
  /** As typed: they may name another file of MCP servers. */
  readonly flags: Readonly<Record<string, unknown>>;
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);

function outside(tasks: readonly TaskSpec[], { directory, root }: PlanPlace): readonly string[] {
  return tasks.flatMap(({ id, order }) => {
    if (order?.type !== 'create_file') return [];
    const path = stepPath(order.path, root, directory);
    const isInside = isBelow(path, root) || isBelow(path, directory);
    return isInside ? [] : [`${id} cannot make ${path}: it lies neither in the vault nor in ${directory}.`];
  });
}

async function unknownServers(tasks: readonly TaskSpec[], place: PlanPlace): Promise<readonly string[]> {
  const { env, directory, flags } = place;
  const names = [...new Set(tasks.flatMap(({ order }) => (order?.type === 'mcp' ? [order.server] : [])))];
  const resolved = await resolveRunConfig(env, directory, flags, 'plan');
  if (!resolved.ok || names.length === 0) return [];
  try {
    return await missingServers({ config: resolved.run.config, directory, env }, names);
  } catch (error) {
    if (error instanceof UsageError) return [`The MCP servers cannot be read: ${error.message}`];
    throw error;
  }
}

export async function planCares(tasks: readonly TaskSpec[], place: PlanPlace): Promise<readonly string[]> {
  return [...outside(tasks, place), ...(await unknownServers(tasks, place))];
}
