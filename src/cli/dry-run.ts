// `run --dry-run`: what the command would do, to a loop as it really stands, and with which settings. Nothing is started or written.

import { goalOverWords, hasWork } from '../app/session/earlier-loop.ts';
import type { Prepared } from '../app/session/prepare.ts';
import { chosenLoop } from '../app/session/session.ts';
import type { State } from '../core/state.ts';
import { progress } from '../core/task.ts';
import { makeRedactor, redactDeep, secretValues } from '../secrets/redactor.ts';
import { endingOf, reopenLine } from '../views/ending.ts';
import { livenessOf } from '../views/loop.ts';
import { type Context, ledgerIfAny, printJson } from './context.ts';
import { type Chosen, runSummary } from './run-summary.ts';
import { makeStyle } from './terminal.ts';

/** `ask`: it has ended with work left, and a person decides; `watch`: another process runs it. */
type Would = 'start' | 'resume' | 'ask' | 'watch' | 'nothing';

interface Plan {
  readonly would: Would;
  readonly words: string;
  readonly state?: State;
}

async function planOf(context: Context, prepared: Prepared): Promise<Plan> {
  const ledger = await ledgerIfAny(context);
  const { flags } = prepared;
  const start: Plan = hasWork(prepared)
    ? { would: 'start', words: '(new)' }
    : { would: 'nothing', words: '(none: no task is open)' };
  if (ledger === undefined || flags['new'] === true) return start;
  const earlier = await chosenLoop(prepared, ledger);
  if (earlier === undefined) return start;
  const { state } = earlier;
  if (earlier.type === 'over') return { would: 'nothing', words: `: ${goalOverWords(state)}`, state };
  const { begun } = state.iterations;
  if (earlier.type === 'ended') {
    const again = reopenLine(state);
    const line = again === undefined ? '' : ` Go on, counters kept: ${again}.`;
    return { would: 'ask', words: `: ${endingOf(state).sentence}${line} Start over: --new`, state };
  }
  const held = await ledger.store.holder(state.loop.id);
  if (livenessOf(false, held).is === 'held')
    return { would: 'watch', words: ', which another process runs now: ralph status', state };
  const { done, blocked, skipped } = progress(state.tasks);
  const count = [`${done} done`, `${blocked} blocked`, `${skipped} skipped`].join(', ');
  const asks = state.questions.open.map(one => one.id).join(', ');
  const question = asks === '' ? '' : `; open: ${asks} (ralph inbox)`;
  return { would: 'resume', words: `, would go on after iteration ${begun} (${count}${question})`, state };
}

/** What a program needs to know before it starts the same for good. */
async function fieldsOf(context: Context, prepared: Prepared, { would, words, state }: Plan): Promise<object> {
  const { settings, document, config, path, directory, env } = prepared;
  const view = state === undefined ? null : await (await context.loops()).view(state.loop.id);
  const fields = {
    dryRun: true,
    would,
    because: words.replace(/^[:,] /, ''),
    loop: view,
    document: path,
    directory: state?.loop.directory ?? directory,
    mode: String(settings.mode),
    goal: document.goal,
    tasks: document.tasks.map(({ id, title, done, skipped }) => ({ id, title, done, skipped })),
    agents: settings.performers,
    checks: settings.checks,
    limits: settings.limits,
    worktree: config.worktree || settings.worktreePerTask,
    parallel: settings.parallel,
    checkpoints: settings.checkpoints,
    commits: settings.commits,
    sandbox: config.sandbox,
  };
  return redactDeep(fields, makeRedactor(secretValues(env)));
}

export async function sayDryRun(context: Context, prepared: Prepared): Promise<number> {
  const { flags } = prepared;
  const plan = await planOf(context, prepared);
  if (flags['json'] === true) return printJson(context, await fieldsOf(context, prepared, plan));
  const chosen: Chosen = { name: plan.state?.loop.name ?? '', state: plan.state, would: plan.words };
  context.out(runSummary(prepared, chosen, makeStyle(flags, process.stdout)));
  context.say('Dry run: nothing was started or written.');
  return 0;
}
