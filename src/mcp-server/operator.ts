// The tools of a person's program, thin over the door `Loops`: to look, to pause, to say something, and never to decide.
import type { Command, LoopRow, Loops, LoopView, Sent } from '../index.ts';
import { takeCharacters } from '../text/text.ts';
import type { Answer, ToolCalls } from './tools.ts';

export const operatorInstructions = [
  'Look at the loops of Ralph on this machine, pause one, or say something to its agent. Answering questions, approving,',
  'and changing limits, criteria or checks are for a person at a terminal: the tools say which command does it.',
].join(' ');

interface OperatorPlace {
  /** Opened when it is first asked: there may be no loop yet. */
  readonly loops: () => Promise<Loops>;
  /** Whose loop is meant when none is named. */
  readonly directory: string;
  /** Who started the server, for the ledger. */
  readonly by: string;
}

const loopsMost = 20;
const eventsMost = 100;
const patchCharsMax = 200_000;

/** One line of a list. */
const shortView = ({ name, loop, mode, state, summary, directory, tasks, spend, questions }: LoopView) => ({
  name,
  loop,
  mode,
  state,
  summary,
  directory,
  tasks: { done: tasks.done, total: tasks.total },
  cost: spend.cost,
  questions: questions.length,
});

const refusals: Readonly<Record<Extract<Sent, { readonly became: 'refused' }>['why'], string>> = {
  'no-loop': 'is gone',
  ended: 'has ended',
  'no-question': 'does not ask that any more',
  'no-task': 'has no such task',
  'task-over': 'has done or skipped that task already',
  'not-restored': 'was not restored',
};

function sentAnswer(sent: Sent, { name }: LoopRow): Answer {
  if (sent.became === 'failed') return { problem: { kind: 'failed', message: sent.failure.detail } };
  if (sent.became === 'refused') return { problem: { kind: sent.why, message: `Loop ${name} ${refusals[sent.why]}.` } };
  return { result: { loop: name, became: sent.became } };
}

export function operatorCalls({ loops: door, directory, by }: OperatorPlace): ToolCalls<'operator'> {
  const meant = async (loop: string | undefined, toChange = false) => {
    const loops = await door();
    return { loops, row: await loops.find(loop, { directory, toChange }) };
  };
  const send = async (loop: string, command: Command): Promise<Answer> => {
    const { loops, row } = await meant(loop, true);
    return sentAnswer(await loops.send(row.loop, command, by), row);
  };
  return {
    async list_loops({ open, most = loopsMost }) {
      const views = await (await door()).list(open === true ? { open } : undefined);
      return { result: { loops: views.slice(0, most).map(shortView), more: Math.max(0, views.length - most) } };
    },
    async loop_status({ loop }) {
      const { loops, row } = await meant(loop);
      return { result: await loops.view(row.loop) };
    },
    async get_diff({ loop, iteration }) {
      const { loops, row } = await meant(loop);
      const { words, patch, isCut } = await loops.diff(row.loop, { iteration });
      const shown = takeCharacters(patch, patchCharsMax);
      return { result: { span: words, patch: shown, cut: isCut || shown.length < patch.length } };
    },
    async get_events({ loop, after = 0, most = eventsMost }) {
      const { loops, row } = await meant(loop);
      const events = await loops.events(row.loop, after, most);
      const next = events.length < most ? undefined : events.at(-1)?.seq;
      return { result: { events: events.map(({ seq, event }) => ({ seq, ...event })), next } };
    },
    async list_inbox() {
      const views = await (await door()).list({ open: true });
      const questions = views.flatMap(({ name, questions: asked }) =>
        asked.map(one => ({ loop: name, ...one, answerWith: `ralph answer ${name}/${one.id}` })),
      );
      return { result: { questions } };
    },
    pause: ({ loop, now = false }) => send(loop, { type: 'pause', now }),
    nudge: ({ loop, text, task }) => send(loop, { type: 'tell', text, task }),
  };
}
