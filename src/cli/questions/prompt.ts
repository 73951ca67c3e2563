// Asks the person at the terminal, one key for each kind of answer. An answer from elsewhere closes it.
import type { Interface } from 'node:readline/promises';
import type { Answer, Escalation } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import { anyOf, plural } from '../../text/format.ts';
import { answerLine, isChoice, isOption, questionKinds } from '../../views/question.ts';
import type { LiveView } from '../live.ts';
import { hanging, openLines, type Style } from '../terminal.ts';
import { questionCard } from './card.ts';

type Reply =
  | Answer
  | { readonly kind: 'custom' }
  | { readonly kind: 'show'; readonly isWhole: boolean }
  | { readonly kind: 'invalid'; readonly why: string };

/** Typed whole or by their first letter. */
const kinds = ['custom', 'skip', 'retry', 'abort'] as const;

/** How many numbered options there are. */
function countWords(options: number): string {
  if (options === 0) return 'There are no numbered options.';
  return options === 1 ? 'There is only option 1.' : `There are only ${options} options.`;
}

function readReply(text: string, escalation: Escalation): Reply {
  const options = escalation.options.length;
  const word = text.trim().toLowerCase();
  if (word === '' || word === '?') return { kind: 'show', isWhole: word === '?' };
  const option = /^[1-9]$/.test(word) ? Number(word) : undefined;
  if (option !== undefined)
    return option <= options ? { kind: 'option', option } : { kind: 'invalid', why: countWords(options) };
  const kind = kinds.find(one => word === one || word === one[0]);
  const isRefused = isChoice(escalation) && kind !== 'skip' && kind !== 'abort';
  return kind === undefined || isRefused ? { kind: 'invalid', why: keysLine(escalation) } : { kind };
}

/** What may be typed: each key and what it does. */
function keysOf(escalation: Escalation): readonly (readonly [string, string])[] {
  const count = escalation.options.length;
  const others = [
    ['c', 'your own words'],
    ['s', 'skip it', 'skip'],
    ['r', 'try again', 'retry'],
    ['a', 'end the loop', 'abort'],
  ] as const;
  const left = others.filter(
    ([key, , answer]) =>
      (!isChoice(escalation) || key === 's' || key === 'a') && !(answer !== undefined && isOption(escalation, answer)),
  );
  return [
    ...(count === 0 ? [] : [[count === 1 ? '1' : `1-${count}`, 'that option'] as const]),
    ...left.map(([key, does]) => [key, does] as const),
    ['?', 'all of the question'],
  ];
}

/** The same keys as below the question, and why there are so few. */
function keysLine(escalation: Escalation): string {
  const keys = anyOf(keysOf(escalation).map(([key]) => key));
  const why = isChoice(escalation) ? ' Nothing is done twice on a guess.' : '';
  return `Type ${keys}; Enter alone shows the question again.${why}`;
}

/** The question as the screen holds it, or all of it, with what may be typed. */
function asked(escalation: Escalation, style: Style, isWhole = false): string {
  const keys = keysOf(escalation).map(([key, does]) => `${key} = ${does}`);
  const card = questionCard(escalation, style, isWhole ? undefined : 'type ?');
  return `${card}\n${style.paint('quiet', hanging('    ', [...keys, 'Enter = read it again'].join(', '), style.columns()))}`;
}

const nameOf = ({ id, task }: Escalation): string => (task === undefined ? id : `${id} ${task}`);

/** `E1 US-002 stuck, 2 more wait (1-2, c, a, ?) > `: what scrolled away must not be needed to answer. */
function promptLine(escalation: Escalation, waiting: number): string {
  const keys = keysOf(escalation).map(([key]) => key);
  const more = waiting === 0 ? '' : `, ${waiting} more ${waiting === 1 ? 'waits' : 'wait'}`;
  return `${nameOf(escalation)} ${questionKinds[escalation.kind]}${more} (${keys.join(', ')}) > `;
}

const guidancePrompt = 'Your guidance > ';

/** Asks until the answer can be used. */
async function replyTo(
  escalation: Escalation,
  lines: Interface,
  stop: AbortSignal,
  terms: { readonly prompt: () => string; readonly show: (isWhole: boolean) => void },
): Promise<Answer> {
  const { prompt, show } = terms;
  for (;;) {
    const text = await lines.question(prompt(), { signal: stop });
    const reply = readReply(text, escalation);
    if (reply.kind === 'invalid') process.stderr.write(`${reply.why}\n`);
    else if (reply.kind === 'show') show(reply.isWhole);
    else if (reply.kind !== 'custom') return reply;
    else {
      const guidance = (await lines.question(guidancePrompt, { signal: stop })).trim();
      if (guidance !== '') return { kind: 'text', text: guidance };
    }
  }
}

export function askAtTerminal(view: LiveView, style: Style, onCtrlC: () => void) {
  let busy: Promise<unknown> = Promise.resolve();
  let asking = 0;
  const waiting = new Set<Escalation>();
  const one = async (escalation: Escalation, loop: string, stop: AbortSignal): Promise<Answer | undefined> => {
    waiting.delete(escalation);
    if (stop.aborted) return undefined;
    const prompt = (): string => promptLine(escalation, waiting.size);
    const lines = openLines();
    view.line(asked(escalation, style));
    const release = view.hold(isWhole => {
      // Answered blind it would be, with the work of others between question and prompt; what is being typed stays.
      if (isWhole && lines.line === '' && lines.getPrompt() !== guidancePrompt)
        process.stderr.write(`\r\x1b[2K${asked(escalation, style)}\n`);
      if (lines.getPrompt() !== guidancePrompt) lines.setPrompt(prompt());
      lines.prompt(true);
    });
    lines.on('SIGINT', onCtrlC);
    try {
      const show = (isWhole: boolean): void => void process.stderr.write(`${asked(escalation, style, isWhole)}\n`);
      return await replyTo(escalation, lines, stop, { prompt, show });
    } catch {
      // Answered from elsewhere, interrupted, or Ctrl-D: then it stays open for `ralph answer`.
      if (!stop.aborted) view.line(`\n${escalation.id} stays open: ${answerLine(loop, escalation)}`);
      return undefined;
    } finally {
      lines.close();
      release();
    }
  };
  /** One question at a time, in the order they were raised. */
  return (escalation: Escalation, { loop }: State, stop: AbortSignal): Promise<Answer | undefined> => {
    if (asking > 0) {
      waiting.add(escalation);
      stop.addEventListener('abort', () => waiting.delete(escalation), { once: true });
      const count = plural(waiting.size + 1, 'question');
      view.line(`${style.marks.ask} ${nameOf(escalation)} waits too (${questionKinds[escalation.kind]}): ${count}`);
    }
    asking += 1;
    const turn = busy
      .then(() => one(escalation, loop.name, stop))
      .finally(() => {
        asking -= 1;
      });
    busy = turn;
    return turn;
  };
}
