// Effects: each becomes a call of a port, and the answer an input. One row per effect, no decisions.
import { untilAborted } from '../agents/performer.ts';
import type { Answer } from '../core/event.ts';
import { sessionOf } from '../core/event.ts';
import type { Performed } from '../core/input.ts';
import type { Effect } from '../core/next.ts';
import { type LiveIteration, liveIteration, type State, showsBlocked } from '../core/state.ts';
import { findTask } from '../core/task.ts';
import { checkpoint, commit, giveBack, restore, setAside } from './checkpoints.ts';
import { documentAfter, documentInput } from './document.ts';
import type { EffectContext, Engine, Perform } from './engine.ts';
import { supervise } from './supervise.ts';
import { check, merge } from './verify.ts';

/** For the first checkpoint, while the document is read. */
async function lookAhead({ source, checkpoints }: Engine, state: State): Promise<void> {
  if (checkpoints?.look === undefined || state.checkpoints.latest !== undefined) return;
  await source.instructions(); // may write them, which is nobody's work
  checkpoints.look();
}

const load: Perform<'load'> = async (_effect, { engine, state, post, refuse }) => {
  await lookAhead(engine, state);
  const loaded = await engine.source.load();
  if (loaded.type === 'failed') refuse(loaded.problems);
  else if (loaded.type === 'loaded') post(documentInput(loaded));
  else refuse([{ message: 'the document was read before this loop had its tasks' }]);
};

/** The document is read again before every iteration; when it changed, the choice is made anew. */
const begin: Perform<'begin'> = async ({ task, performer }, { engine, post }) => {
  const loaded = await engine.source.load();
  if (loaded.type === 'loaded') post(documentInput(loaded));
  post({ type: 'begin', task, performer, holder: engine.holder.id });
};

/** A session has worked on it: it counts, and somebody else begins anew. */
function leftBySession(live: LiveIteration | undefined): Performed | undefined {
  const session = live && sessionOf(live.holder);
  if (session === undefined) return undefined;
  return { message: '', failure: { kind: 'stopped', detail: `session ${session} left it`, crashed: true } };
}

const recover: Perform<'recover'> = async ({ iteration }, { engine, state, post }) => {
  const live = liveIteration(state, iteration);
  if (live?.process !== undefined) await engine.reap?.(live.process);
  // What an agent wrote into the document before the end is not a person's word.
  await documentAfter(engine.source, iteration, post);
  const found = engine.spool.found(iteration) ?? leftBySession(live);
  post({ type: 'recovered', iteration, holder: engine.holder.id, chance: engine.clock.random(), found });
};

const save: Perform<'save'> = async ({ tasks }, { engine, state, post }) => {
  const marks = tasks.flatMap(id => {
    const task = findTask(state.tasks, id);
    if (task === undefined) return [];
    const { status, attempts } = task;
    // Where the document shows only what is done, a task that changed hands meanwhile is no reason to write again.
    const more = showsBlocked(state) ? { status, attempts } : {};
    return [{ id, done: status === 'done', skipped: status === 'skipped', ...more }];
  });
  // A task that was reworded stands under another id there; for one that is gone its id may be somebody else's.
  const shown = marks.flatMap(mark => {
    const task = findTask(state.tasks, mark.id);
    return task?.missing ? [] : [{ ...mark, id: task?.spec.documentId ?? mark.id }];
  });
  const saved = await engine.source.save(shown);
  if (saved.type === 'failed')
    post({ type: 'saved', marks, hash: '', failed: saved.problems[0]?.message ?? 'unknown' });
  else post({ type: 'saved', marks, hash: saved.hash, restored: saved.restored });
};

/** Asked at the terminal, answered by policy, or left open for `ralph answer`. */
const ask: Perform<'ask'> = async ({ escalation }, { engine, state, post }, stop) => {
  const answered = (answer: Answer, by: string, policy?: true): void =>
    post({ type: 'command', by, command: { type: 'answer', escalation: escalation.id, answer, policy } });
  if (engine.onEscalation === 'skip' && escalation.task !== undefined && escalation.kind !== 'health') {
    answered({ kind: 'skip' }, '--on-escalation skip', true);
    return;
  }
  const answer = engine.onEscalation === 'wait' ? await engine.ask?.(escalation, state, stop) : undefined;
  if (answer !== undefined && !stop.aborted) answered(answer, engine.by);
  else await untilAborted(stop);
};

const performs: { readonly [Type in Effect['type']]: Perform<Type> } = {
  load,
  begin,
  perform: async ({ iteration }, context, stop) => {
    const live = liveIteration(context.state, iteration);
    if (live !== undefined) await supervise(context, live, stop);
  },
  cancel: async ({ iteration }, { engine, post }) => {
    const failure = { kind: 'stopped' as const, detail: 'not wanted any more before the agent ran' };
    post({ type: 'performed', iteration, performed: { message: '', failure }, chance: engine.clock.random() });
  },
  recover,
  nudge: async ({ key, iteration, level, trigger, words }, { board, post }) => {
    const delivered = words !== undefined && board.send(iteration, { id: key, text: words, urgent: true });
    post({ type: 'nudged', iteration, level, delivered, trigger });
  },
  steer: async ({ key, iteration, guidance, words }, { board, post }) => {
    const delivered = await board.deliver(iteration, { id: key, text: words });
    post({ type: 'reached', guidance, iteration, delivered });
  },
  check,
  merge,
  save,
  checkpoint,
  restore,
  commit,
  'set-aside': setAside,
  'give-back': giveBack,
  ask,
  'ask-how-to-continue': async (_effect, { post }) => post({ type: 'stalled' }),
  end: async (_effect, { engine, state, post }) => {
    const loaded = state.document.isLoaded ? await engine.source.load() : undefined;
    if (loaded?.type === 'loaded') post(documentInput(loaded));
    post({ type: 'end' });
  },
};

export function performEffect(effect: Effect, context: EffectContext, stop: AbortSignal): Promise<void> {
  return (performs[effect.type] as Perform<Effect['type']>)(effect as never, context, stop);
}
