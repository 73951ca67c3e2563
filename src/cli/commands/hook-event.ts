// `ralph hook event`: what the plugin calls when a session begins, and when a command is typed there that begins a loop.
import { existsSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { runOwn } from '../../app/hooks.ts';
import type { Look } from '../../app/loops/loops.ts';
import { allBindings, noteTrouble } from '../../hook/binding.ts';
import { standardInput } from '../../hook/idle.ts';
import { readEvent } from '../../hook/payload.ts';
import { splitCommand, type TypedCommand, typedCommand } from '../../hook/typed-command.ts';
import { type Fields, textOf } from '../../text/fields.ts';
import { endingOf } from '../../views/ending.ts';
import { livenessOf, type Standing, standingOf } from '../../views/loop.ts';
import type { Context } from '../context.ts';

/** Undefined: there is nothing to say. */
type Answer = (context: Context, event: Fields) => Promise<object | undefined>;

const answers: Readonly<Record<string, Answer>> = { SessionStart: sayWhatWaits, UserPromptExpansion: beginTyped };

/** What is not ours or cannot be read is no matter: the agent goes on. */
export async function execute(context: Context): Promise<number> {
  const event = readEvent(await standardInput());
  // The agent of a loop of ours is no place to speak of loops.
  if (typeof event === 'string' || context.env['RALPH_LOOP'] !== undefined) return 0;
  const name = textOf(event['hook_event_name']);
  try {
    const told = Object.hasOwn(answers, name) ? await answers[name]?.(context, event) : undefined;
    if (told !== undefined) writeSync(1, `${JSON.stringify(told)}\n`);
  } catch (error) {
    noteTrouble(context.home(), textOf(event['session_id']), (error as Error).message);
  }
  return 0;
}

/** For its user, and for the model beside what is typed. */
const toldBoth = (event: Fields, systemMessage: string, additionalContext: string): object => ({
  systemMessage,
  hookSpecificOutput: { hookEventName: event['hook_event_name'], additionalContext },
});

const waiting: readonly Standing[] = ['not-running', 'paused', 'waiting'];
const shownMax = 3;

/** How a loop goes on that stands still here, or that another session may have left; none where a process works on it. */
function waitingLines(home: string, session: string, { row: { loop, name }, state, held }: Look): readonly string[] {
  const bound = allBindings(home).find(one => one.loop === loop)?.session;
  if (!bound && !waiting.includes(standingOf(state, livenessOf(false, held), Date.now()))) return [];
  const isPaused = state.control.paused !== undefined;
  const resume = `ralph resume ${name}`;
  const isHere = bound === session;
  const here = isPaused ? `${resume}, then say anything` : 'say anything';
  const next = isHere ? here : bound ? `open that session again, or ${resume} --headless` : resume;
  const where = isHere ? 'waits in this session' : bound ? `belongs to session ${bound}` : 'waits in this folder';
  const way = state.questions.open.length > 0 ? 'ralph inbox' : next;
  return [`Ralph: loop ${name} ${where}${isPaused ? ', paused' : ''}. ${endingOf(state).sentence} Go on: ${way}`];
}

async function sayWhatWaits(context: Context, event: Fields): Promise<object | undefined> {
  if (!context.hasLedger()) return undefined;
  const loops = await context.loops();
  const open = (await loops.ofFolder(textOf(event['cwd']))).filter(({ reason }) => reason === null);
  const lines: string[] = [];
  for (const row of open.slice(0, shownMax))
    lines.push(...waitingLines(context.home(), textOf(event['session_id']), await loops.look(row)));
  const said = lines.join('\n');
  return said === ''
    ? undefined
    : toldBoth(event, said, `${said}\nThis is for the user: go on with it only when asked to.`);
}

const startMsMax = 600_000;

/** The words for `ralph hook start`, and what it reads: a text of any length and kind. */
function startOf({ name, session, directory, text }: TypedCommand) {
  const split = splitCommand(text);
  if (!split.ok) return split.problem;
  const { what, options } = split;
  const isReview = name === 'review-loop';
  const isFile = isReview || (what !== '' && !what.includes('\n') && existsSync(resolve(directory, what)));
  const mode = isReview ? ['--mode', 'review'] : [];
  return { words: ['--session', session, ...mode, ...options, '--', isFile ? what : '-'], input: isFile ? '' : what };
}

/** Begun in a process of its own, as if it were typed; what it refuses goes back to the user, and costs no turn. */
async function beginTyped(context: Context, event: Fields): Promise<object | undefined> {
  const typed = typedCommand(event);
  if (typed === undefined) return undefined;
  const refused = (reason: string): object => ({ decision: 'block', reason });
  const start = startOf(typed);
  if (typeof start === 'string') return refused(start);
  const order = { directory: typed.directory, env: context.env, input: start.input, timeMsMax: startMsMax };
  const { code, output, errors } = await runOwn(['hook', 'start', ...start.words], order);
  return code === 0 ? toldBoth(event, errors.trim(), output.toString('utf8')) : refused(errors.trim());
}
