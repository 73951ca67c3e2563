// Answers to what an agent asks about its iteration while it works: its task, the handoff, what is left of the limits.

import { continuationPrompt } from '../core/handoff.ts';
import {
  activeMsAt,
  attemptsMaxOf,
  countedUsdMicros,
  isSingleTask,
  type LiveIteration,
  type State,
  totalTokens,
} from '../core/state.ts';
import { findTask, progress } from '../core/task.ts';
import { isoTime } from '../text/format.ts';

/** What is used of a limit; without one nothing bounds it. */
const against = (used: number, most: number | null) => ({
  used,
  most,
  left: most === null ? null : Math.max(0, most - used),
});

const dollars = (usdMicros: number): number => usdMicros / 1_000_000;
const minutes = (ms: number): number => Math.round(ms / 6_000) / 10;

function taskAnswer(state: State, live: LiveIteration) {
  const task = findTask(state.tasks, live.task);
  const { done, total } = progress(state.tasks);
  return {
    loop: state.loop.name,
    task: live.task,
    title: task?.spec.title,
    description: task?.spec.description,
    criteria: task?.spec.criteria.map((text, at) => ({ criterion: at + 1, text })),
    iteration: live.iteration,
    attempt: live.attempt,
    attemptsMax: task === undefined || isSingleTask(state) ? undefined : attemptsMaxOf(state, task),
    checks: state.settings.checks.length,
    lastClaimRefused: task?.rejection,
    tasks: { done, total },
  };
}

function budgetAnswer(state: State, live: LiveIteration, now: number) {
  const { limits } = state.settings;
  const { usage } = state.spend;
  const money = limits.costUsdMicrosMax === null ? null : dollars(limits.costUsdMicrosMax);
  const time = limits.durationMsMax === null ? null : minutes(limits.durationMsMax);
  return {
    iterations: against(state.iterations.begun, limits.iterationsMax),
    costUsd: against(dollars(countedUsdMicros(state.settings, usage)), money),
    tokens: against(totalTokens(usage), limits.tokensMax),
    minutes: against(minutes(activeMsAt(state, now)), time),
    deadline: limits.deadlineAt === null ? undefined : isoTime(limits.deadlineAt),
    thisIteration: {
      minutes: against(minutes(now - live.startedAt), minutes(limits.iterationMsMax)),
      contextUsed: live.contextUsed,
    },
  };
}

export const agentTools = {
  /** Work that ends with a claim: who reviews, acts or sits at a terminal answers in a way of its own. */
  isFor(state: State, { task }: LiveIteration): boolean {
    const { completion, performer, interactive } = findTask(state.tasks, task)?.spec ?? {};
    return completion === undefined && performer === undefined && interactive !== true;
  },
  answers: (state: State, live: LiveIteration, now: number) => ({
    task: taskAnswer(state, live),
    handoff: {
      text: continuationPrompt(state, live.task) || 'This is the first iteration: nobody has worked before you.',
    },
    budget: budgetAnswer(state, live, now),
  }),
};

/** Where a claim can be made by a tool: it is told at the end of the prompt, whatever the mode. */
export const toolsSection = [
  '## Tools of Ralph',
  '',
  'If you have the tools of the MCP server `ralph`, report with them while you work; they count where words may be misread:',
  '`report_done` with evidence for each criterion claims your task, `request_human` asks a person, `note_decision` and',
  '`report_obstacle` tell whoever comes after you. A claim by a tool needs no line in the last message, and is checked all the same.',
].join('\n');
