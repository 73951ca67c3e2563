// Checkpoint records: what was done, known, spent and how to go back, beside the git tree.

import type { EventOf } from '../core/event.ts';
import { agentId, continuationPrompt, phaseOf } from '../core/handoff.ts';
import { type State, update } from '../core/state.ts';
import { allTasks, proofWords, type Task } from '../core/task.ts';
import type { Change, Saved } from '../git/checkpoints.ts';
import type { Report } from '../messages/report.ts';
import { canonical } from '../text/canonical.ts';
import { isoTime, plural } from '../text/format.ts';
import { oneLine, visible } from '../text/text.ts';

/** `reported`: written by the agent. `derived`: by us, from the tasks, the diff and the checks. */
type Source = 'reported' | 'derived';

/** The file beside a checkpoint, field by field. */
export type CheckpointRecord = ReturnType<typeof checkpointRecord>;

const filesMax = 100;
const pathCharsMax = 1_000;

/** A list that the agent left empty says nothing; what it filled in stands as it wrote it. */
function executionState(state: State, facts: CheckpointFacts, task: string) {
  const { report } = state.memory;
  const derived = derivedItems(state, facts, task);
  const source = (key: keyof Items): Source => ((report?.[key].length ?? 0) > 0 ? 'reported' : 'derived');
  const pick = <Key extends keyof Items>(key: Key): Items[Key] =>
    source(key) === 'reported' && report !== undefined ? report[key] : derived[key];
  const files: readonly Change[] = facts.changes
    .slice(0, filesMax)
    .map(({ path, how }) => ({ path: shown(path, pathCharsMax), how }));
  return {
    phase: phaseOf(state),
    completed_items: pick('completed'),
    pending_items: pick('pending'),
    blocked_items: pick('blocked'),
    sources: {
      phase: (report?.phase === undefined ? 'derived' : 'reported') as Source,
      completed_items: source('completed'),
      pending_items: source('pending'),
      blocked_items: source('blocked'),
    },
    files_changed: files,
    files_changed_count: facts.changes.length,
  };
}

function rollbackInstructions({ number, saved }: CheckpointFacts, { loop: { name } }: State): readonly string[] {
  if (saved === undefined) return ['Nothing can be restored from it: it holds no files.'];
  return [
    `To see what would change: ralph checkpoint restore ${number} ${name} --dry-run`,
    `To go back to this checkpoint: ralph checkpoint restore ${number} ${name}`,
    `To take the last restore back: ralph undo ${name}`,
  ];
}

/** The report is the newest one: beside another task it would tell of work that is not here. */
function momentOf(state: State, about: NonNullable<State['iterations']['last']>): State {
  const { last } = state.iterations;
  if (last === undefined || about.task === '' || about.task === last.task) return state;
  const worked = update(state, 'iterations', { last: { ...about, performer: about.performer || 'an agent' } });
  return update(worked, 'memory', { report: undefined, handoff: undefined });
}

export function checkpointRecord(state: State, facts: CheckpointFacts) {
  const last = state.iterations.last?.iteration === facts.iteration ? state.iterations.last : undefined;
  const task = facts.task ?? last?.task ?? '';
  const performer = facts.performer ?? last?.performer ?? '';
  const here = momentOf(state, { iteration: facts.iteration, task, performer });
  const execution = executionState(here, facts, task);
  const { usage } = here.spend;
  const { report } = here.memory;
  const tests: readonly CheckFact[] = facts.lastChecks.map(({ check, passed, iteration }) => ({
    check,
    passed,
    iteration,
  }));
  return {
    version: 1 as const,
    metadata: {
      checkpoint_id: facts.checkpoint,
      number: facts.number,
      label: shown(facts.label),
      loop_id: state.loop.id,
      loop_name: state.loop.name,
      project_id: state.loop.projectId,
      task_id: state.loop.taskId,
      /** The task of the loop that the iteration worked on. */
      task,
      agent_id: performer === '' ? '' : agentId(state.loop.id, facts.iteration),
      performer,
      iteration: facts.iteration,
      phase: execution.phase,
      created_at: isoTime(facts.at),
    },
    execution_state: execution,
    context_summary: {
      written_by: 'agent' as const,
      key_decisions: report?.decisions ?? [],
      assumptions: report?.assumptions ?? [],
      constraints: report?.constraints ?? [],
      obstacles: report?.obstacles?.map(({ message }) => message) ?? [],
    },
    metrics: {
      /** Without what came from or went into the provider's cache. */
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      cost_usd: usage.costUsdMicros / 1_000_000,
      cost_estimated: usage.estimated,
      tool_calls: facts.toolCalls,
      tests,
      iterations: state.iterations.begun,
    },
    recovery: {
      rollback_instructions: rollbackInstructions(facts, state),
      continuation_prompt: continuationPrompt(here, undefined, facts.checkpoint),
    },
    /** Null where the workspace keeps no trees: then nothing can be restored. */
    git: facts.saved === undefined ? null : gitOf(facts.saved),
    anchor: { sequence: facts.anchor.sequence, hash: facts.anchor.hash },
  };
}

function gitOf({ ref, commit, tree, skipped }: Omit<Saved, 'ok'>): Omit<Saved, 'ok'> {
  return { ref, commit, tree, skipped: skipped.map(({ path, why }) => ({ path: shown(path, pathCharsMax), why })) };
}

/** The file's text, byte for byte: its hash is what the ledger keeps. */
export function recordText(record: CheckpointRecord): string {
  return `${canonical(record)}\n`;
}

export type VerifiedRecord =
  | { readonly ok: true; readonly record: CheckpointRecord }
  | { readonly ok: false; readonly problem: string };

/** Only a text with exactly the recorded hash is taken for a record. */
export function verifyRecord(text: string, sha256: string, hashOf: (text: string) => string): VerifiedRecord {
  if (hashOf(text) !== sha256) return { ok: false, problem: 'its SHA-256 is not the one in the ledger' };
  try {
    const record = JSON.parse(text) as CheckpointRecord;
    if (record?.version === 1) return { ok: true, record };
  } catch {
    return { ok: false, problem: 'it is not JSON' };
  }
  return { ok: false, problem: 'it has a version that this Ralph does not know' };
}

/** What the ledger's state does not say about a checkpoint. */
export interface CheckpointFacts {
  /** UUIDv7. */
  readonly checkpoint: string;
  readonly number: number;
  readonly label: string;
  readonly at: number;
  /** The newest iteration whose work it holds; 0 before the first. */
  readonly iteration: number;
  /** Of that iteration; absent when the checkpoint is about none. */
  readonly task?: string;
  readonly performer?: string;
  /** Absent where the workspace keeps no trees. */
  readonly saved?: Omit<Saved, 'ok'>;
  /** The ledger's head. */
  readonly anchor: { readonly sequence: number; readonly hash: string };
  /** Since the checkpoint before. */
  readonly changes: readonly Change[];
  readonly toolCalls: number;
  /** The last outcome of each check. */
  readonly lastChecks: readonly CheckFact[];
}

type CheckFact = Pick<EventOf<'check.ended'>, 'check' | 'passed' | 'iteration'>;

const itemsMax = 50;
const itemCharsMax = 300;
const filesNamedMax = 5;

const shown = (text: string, charsMax = itemCharsMax): string => oneLine(text, charsMax);

/** The first ones; the rest is counted. */
function bounded(items: readonly string[]): readonly string[] {
  if (items.length <= itemsMax) return items;
  return [...items.slice(0, itemsMax - 1), `and ${items.length - itemsMax + 1} more`];
}

function changedWords(changes: readonly Change[]): readonly string[] {
  if (changes.length === 0) return [];
  const named = changes.slice(0, filesNamedMax).map(({ path, how }) => `${shown(path)} (${how})`);
  const more = changes.length - named.length;
  return [`${plural(changes.length, 'file')} changed: ${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`];
}

const checkWords = (checks: readonly CheckFact[], passed: boolean): readonly string[] =>
  checks
    .filter(one => one.passed === passed)
    .map(one => `check "${shown(one.check)}" ${passed ? 'passed' : 'failed'} (iteration ${one.iteration})`);

const named = (task: Task, note = ''): string =>
  shown(`${task.id}: ${visible(task.spec.title)}${note === '' ? '' : ` (${note})`}`);

function blockedReason(state: State, task: Task): string | undefined {
  if (task.status === 'blocked') return task.blockedBecause ?? 'blocked';
  if (task.openQuestion === undefined || task.status === 'done' || task.status === 'skipped') return undefined;
  const question = state.questions.open.find(one => one.id === task.openQuestion);
  return `waits for an answer${question === undefined ? '' : `: ${question.summary}`}`;
}

type Items = Pick<Report, 'completed' | 'pending' | 'blocked'>;

/** What we know without the agent's word: tasks closed in this loop, the diff, the checks. */
function derivedItems(state: State, facts: CheckpointFacts, task: string): Items {
  // The task of this checkpoint first: it is what the reader asks about.
  const tasks = [...allTasks(state.tasks)].sort((a, b) => Number(b.id === task) - Number(a.id === task));
  const closed = tasks.filter(one => one.status === 'done' && one.verified !== undefined);
  const open = tasks.filter(
    one => (one.status === 'pending' || one.status === 'active') && blockedReason(state, one) === undefined,
  );
  const blocked = tasks.flatMap(one => {
    const reason = blockedReason(state, one);
    return reason === undefined ? [] : [{ item: named(one), reason: shown(reason) }];
  });
  const rest = blocked.length - itemsMax + 1;
  return {
    completed: bounded([
      ...checkWords(facts.lastChecks, true),
      ...changedWords(facts.changes),
      ...closed.map(one => named(one, proofWords(one))),
    ]),
    pending: bounded([
      ...checkWords(facts.lastChecks, false),
      ...open.map(one => named(one, one.rejection === undefined ? '' : 'its last claim was not accepted')),
    ]),
    blocked: rest <= 1 ? blocked : [...blocked.slice(0, itemsMax - 1), { item: `and ${rest} more`, reason: '' }],
  };
}
