// Changes of a plan since its approval, step by step from the ledger, and warnings about what this machine could not do.

import { missingServers, refusedFiles } from '../../../app/actions.ts';
import { type Environment, resolveRunConfig } from '../../../app/app.ts';
import { eventsIn } from '../../../app/loops/find.ts';
import { initialState, type State } from '../../../core/state.ts';
import { allTasks, findTask, mayHaveHappened, type TaskSpec, type TaskTable } from '../../../core/task.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { canonical } from '../../../text/canonical.ts';
import { UsageError } from '../../../text/errors.ts';
import { takeCharacters } from '../../../text/text.ts';
import { evolve } from '../../evolve.ts';
import { modeName } from '../../registry.ts';
import type { PlanFile } from './files.ts';
import type { PlanLoop } from './loops.ts';

const beforeCharsMax = 300;

/** The steps as they were when they were approved; undefined when nobody has approved anything that was read. */
async function approvedSteps(ledger: Ledger, { row, state }: PlanLoop): Promise<TaskTable | undefined> {
  const hash = state.document.approval?.hash;
  if (hash === undefined) return undefined;
  let [then, found]: [State, TaskTable | undefined] = [initialState, undefined];
  for await (const { event } of eventsIn(ledger, row.loop)) {
    then = evolve(then, event);
    if (then.document.contentHash === hash) found = then.tasks;
  }
  return found;
}

/** What a person would compare, by the name that the plan gives it. */
const partsOf = ({ title, description, criteria, dependsOn, performer, order }: TaskSpec): Record<string, unknown> => {
  const { type: _type, ...action } = order ?? { type: undefined };
  return { title, description, criteria, dependencies: dependsOn, performer: performer ?? 'agent', ...action };
};

function changed(before: TaskSpec, now: TaskSpec): readonly string[] {
  const [was, is] = [partsOf(before), partsOf(now)];
  return Object.keys({ ...was, ...is })
    .filter(key => canonical(was[key] ?? null) !== canonical(is[key] ?? null))
    .map(key => {
      const old = was[key] === undefined ? 'not there' : takeCharacters(JSON.stringify(was[key]), beforeCharsMax);
      return `${now.id}: ${key} was ${old}`;
    });
}

/** One line for each thing that differs; none: it was never approved, or is as it was. */
export async function changesSince(ledger: Ledger, loop: PlanLoop, plan: PlanFile): Promise<readonly string[]> {
  if (loop.state.document.approval === undefined || loop.state.document.approval.hash === plan.hash) return [];
  const before = await approvedSteps(ledger, loop);
  if (before === undefined) return [];
  const { tasks } = plan.document;
  const ids = new Set(tasks.map(task => task.id));
  const lines = [
    ...tasks.flatMap(task => {
      const known = findTask(before, task.id);
      return known === undefined ? [`${task.id} is new`] : changed(known.spec, task);
    }),
    ...[...allTasks(before)].filter(({ id }) => !ids.has(id)).map(({ id }) => `${id} is gone`),
  ];
  return lines.length === 0 ? ['No step differs: only other text does.'] : lines;
}

/**
 * Steps are known by their numbers. Where the number of one that was carried out says something else now, its action
 * probably stands under another number, and would be done again.
 */
export async function refuseRenumbered(ledger: Ledger, loop: PlanLoop, plan: PlanFile): Promise<void> {
  const before = await approvedSteps(ledger, loop);
  for (const task of before === undefined ? [] : allTasks(before)) {
    const now = findTask(loop.state.tasks, task.id);
    const written = plan.document.tasks.find(one => one.id === task.id);
    const { order, title } = task.spec;
    if (order === undefined || now === undefined) continue;
    if (!mayHaveHappened({ ...now, spec: { ...now.spec, order } })) continue;
    if (canonical(written?.order ?? null) === canonical(order)) continue;
    throw new UsageError(
      `${task.id} was carried out, or may have been (${takeCharacters(title, 100)}), and the plan now says something else there.`,
      'Leave steps that were carried out as they are, under their numbers, and put new ones behind them.',
    );
  }
}

interface PlanPlace {
  readonly env: Environment;
  /** The folder of work. */
  readonly directory: string;
  /** The vault. */
  readonly root: string;
  /** As typed: they may name another file of MCP servers. */
  readonly flags: Readonly<Record<string, unknown>>;
}

/** What no machine would do: a run refuses it, so whoever reads or approves the plan is told before. */
export const planRefusals = (tasks: readonly TaskSpec[], { directory, root }: PlanPlace): Promise<readonly string[]> =>
  refusedFiles(tasks, { vault: root, repository: directory });

async function unknownServers(tasks: readonly TaskSpec[], place: PlanPlace): Promise<readonly string[]> {
  const { env, directory, flags } = place;
  const names = [...new Set(tasks.flatMap(({ order }) => (order?.type === 'mcp' ? [order.server] : [])))];
  const resolved = await resolveRunConfig(env, directory, flags, { mode: modeName('plan') });
  if (!resolved.ok || names.length === 0) return [];
  try {
    return await missingServers({ config: resolved.config, directory, env }, names);
  } catch (error) {
    if (error instanceof UsageError) return [`The MCP servers cannot be read: ${error.message}`];
    throw error;
  }
}

/** What this machine could not do today: said to whoever reads or approves the plan, and never a refusal. */
export async function planWarnings(tasks: readonly TaskSpec[], place: PlanPlace): Promise<readonly string[]> {
  return unknownServers(tasks, place);
}
