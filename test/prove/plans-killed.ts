// SIGKILLs a real `ralph plan run` whose steps call a real MCP server over stdio, runs it again, and counts the effects.
import { mkdirSync, watch, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Event } from '../../src/core/event.ts';
import { initialState, type State } from '../../src/core/state.ts';
import { allTasks } from '../../src/core/task.ts';
import { evolve } from '../../src/modes/evolve.ts';
import { effectsIn } from '../fixtures/mcp/tools.ts';
import { type Random, random } from '../simulate/random.ts';
import { living, makeStage, type Running, type Stage, until } from './stage.ts';
import { LawBroken } from './verdict.ts';

const server = resolve(import.meta.dirname, '../fixtures/mcp/server.ts');
const runsMax = 30;
const runMsMax = 60_000;

/** `with_key` takes our key, so that it may be called twice; the others must not be. */
const tools = ['append_line', 'append_line', 'with_key', 'die_after', 'die_before'] as const;
/** `slow` never answers: only for whoever kills at its effect. */
type ToolName = (typeof tools)[number] | 'slow';
const triggers = ['effect', 'effect', 'intent', 'events', 'changes', 'changes'] as const;
type Trigger = (typeof triggers)[number];

/** Anything that it does not say is drawn from the seed. */
export interface KillOrder {
  readonly kills?: number;
  readonly steps?: readonly ToolName[];
  /** The so manieth of these is what it is killed at. */
  readonly at?: { readonly what: Trigger; readonly times: number };
}

export interface KilledPlan {
  readonly kills: number;
  readonly questions: number;
  readonly effects: number;
  /** What had been seen when it was killed, once per kill. */
  readonly moments: readonly Trigger[];
}

interface PlanStage extends Stage {
  readonly effectsFolder: string;
  readonly steps: readonly ToolName[];
  /** How often the effect of this step has happened. */
  count(step: string): number;
  effects(): number;
  state(): Promise<{ readonly state: State; readonly events: readonly Event[] }>;
}

function planText(steps: readonly ToolName[]): string {
  const rows = steps.map((tool, at) => {
    const params = tool === 'append_line' ? `{line: line ${at + 1}}` : tool === 'with_key' ? `{text: word}` : '{}';
    const needs = at > 1 ? `step_${at - 1}` : 'none';
    return (
      `- [ ] **Step ${at + 1}:** Call ${tool} (action_type: mcp_test)\n` +
      `  - Dependencies: ${needs}\n  - MCP Server: test\n  - Tool: ${tool}\n  - Params: ${params}\n`
    );
  });
  const facts = `plan_id: plan_kill\nobjective: Effects that are counted\ntotal_steps: ${steps.length}`;
  return `---\n${facts}\napproval_required: true\nmax_iterations: 40\n---\n\n${rows.join('')}`;
}

function makePlanStage(steps: readonly ToolName[]): PlanStage {
  const stage = makeStage(1);
  const plans = join(stage.project, 'vault', 'Plans');
  const config = join(stage.folder, '.config', 'ralph');
  const effectsFolder = join(stage.folder, 'effects');
  for (const folder of [plans, config, effectsFolder, stage.home]) mkdirSync(folder, { recursive: true });
  const file = join(effectsFolder, 'all.jsonl');
  writeFileSync(join(plans, 'kill.md'), planText(steps));
  const test = { command: process.execPath, args: [server], env: { MCP_EFFECTS: file } };
  writeFileSync(join(config, 'mcp.json'), JSON.stringify({ mcpServers: { test } }));
  return {
    ...stage,
    effectsFolder,
    steps,
    count: step => effectsIn(file).filter(one => one.key?.endsWith(`:${step}`)).length,
    effects: () => effectsIn(file).length,
    async state() {
      const [record] = await stage.ledger();
      if (record?.verified.ok === false) throw new LawBroken('the chain of the ledger does not hold');
      const events = record?.events ?? [];
      return { state: events.reduce(evolve, initialState), events };
    },
  };
}

/** Kills as soon as something is seen: an effect, an intent, so many events, a change of the ledger's files. */
async function killedAt(
  stage: PlanStage,
  running: Running,
  chances: Random,
  at: KillOrder['at'],
): Promise<Trigger | undefined> {
  const stopping: (() => void)[] = [];
  let [isOver, isKilled] = [false, false];
  const kill = (): void => {
    if (isOver || isKilled) return;
    isKilled = true;
    running.child.kill('SIGKILL');
  };
  const onChange = (folder: string, prefix: string, changed: () => void): void => {
    const watcher = watch(folder, (_event, name) => void (name?.startsWith(prefix) && changed()));
    stopping.push(() => watcher.close());
  };
  const poll = async (isSo: (events: readonly Event[]) => boolean): Promise<void> => {
    await until(what, async () => isOver || isSo((await stage.state()).events), runMsMax);
    kill();
  };
  const before = (await stage.state()).events;
  const intents = (events: readonly Event[]): number => events.filter(one => one.type === 'action.intended').length;
  const what = at?.what ?? chances.pick(triggers);
  const most = { effect: 2, intent: 2, events: 20, changes: 12 * stage.steps.length };
  const more = at?.times ?? chances.whole(1, most[what]);
  let polling: Promise<void> | undefined;
  let changes = 0;
  if (what === 'effect') {
    const wanted = stage.effects() + more;
    onChange(stage.effectsFolder, '', () => void (stage.effects() >= wanted && kill()));
  } else if (what === 'changes') {
    onChange(stage.home, 'ralph.db', () => {
      changes += 1;
      if (changes === more) kill();
    });
  } else if (what === 'intent') polling = poll(events => intents(events) >= intents(before) + more);
  else polling = poll(events => events.length >= before.length + more);
  const { signal } = await running.ended;
  isOver = true;
  for (const stop of stopping) stop();
  await polling;
  return signal === 'SIGKILL' && isKilled ? what : undefined;
}

async function ended(running: Running): Promise<void> {
  const timer = setTimeout(() => running.child.kill('SIGKILL'), runMsMax);
  const { signal, errors } = await running.ended;
  clearTimeout(timer);
  if (signal !== null) throw new LawBroken(`a run did not end in ${runMsMax} ms: ${errors}`);
}

/** What a person sees who looks where the effect would show. */
async function answered(stage: PlanStage, state: State): Promise<number> {
  for (const { id, kind, task = '' } of state.questions.open) {
    if (kind !== 'effect' && kind !== 'blocked') throw new LawBroken(`nobody expected a question about ${kind}`);
    const tool = stage.steps[Number(task.split('_')[1]) - 1];
    // Who never gets through is left out, and what waits for it goes on without it.
    const option = kind === 'blocked' || stage.count(task) > 0 ? '1' : tool === 'die_before' ? '3' : '2';
    const { code, errors } = await stage.ralph(['answer', id, '--option', option]).ended;
    if (code !== 0) throw new LawBroken(`the answer was not taken: ${errors}`);
  }
  return state.questions.open.length;
}

const nobodyLeft = (stage: PlanStage): Promise<void> =>
  until('no server is left', () => living(stage.folder).length === 0, 10_000);

function checkEffects(stage: PlanStage, state: State, isOver: boolean): void {
  for (const {
    id,
    status,
    spec: { order },
  } of allTasks(state.tasks)) {
    const count = stage.count(id);
    if (count > 1) throw new LawBroken(`the effect of ${id} happened ${count} times`);
    if (status === 'done' && count !== 1) throw new LawBroken(`${id} is called done, and happened ${count} times`);
    const tool = order?.type === 'mcp' ? order.tool : '';
    if (isOver && status !== 'done' && tool !== 'die_before') throw new LawBroken(`${id} ended as ${status}`);
  }
}

/** One plan: killed a few times, run again until it is over, every question answered by looking. */
export async function killPlan(seed: number, order: KillOrder = {}): Promise<KilledPlan> {
  const chances = random(seed);
  const drawn = Array.from({ length: chances.whole(2, 4) }, (): ToolName => chances.pick(tools));
  const { kills = chances.whole(1, 3), steps = drawn, at } = order;
  const stage = makePlanStage(steps);
  const moments: Trigger[] = [];
  let questions = 0;
  try {
    const { code, errors } = await stage.ralph(['plan', 'approve', 'plan_kill', '--yes']).ended;
    if (code !== 0) throw new LawBroken(`it was not approved: ${errors}`);
    for (let runs = 0; runs < runsMax; runs += 1) {
      const running = stage.ralph(['plan', 'run', 'plan_kill', '--no-input']);
      const moment = moments.length < kills ? await killedAt(stage, running, chances, at) : await ended(running);
      if (moment !== undefined) moments.push(moment);
      await nobodyLeft(stage);
      const { state } = await stage.state();
      checkEffects(stage, state, false);
      if (state.control.ended !== undefined) {
        if (state.control.ended.reason !== 'goal_achieved')
          throw new LawBroken(`it ended by ${state.control.ended.reason}`);
        checkEffects(stage, state, true);
        return { kills: moments.length, questions, effects: stage.effects(), moments };
      }
      questions += await answered(stage, state);
    }
    throw new LawBroken(`${runsMax} runs did not end the plan`);
  } finally {
    stage.remove();
  }
}
