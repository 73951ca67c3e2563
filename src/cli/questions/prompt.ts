// Asks the person at the terminal, one key for each kind of answer. An answer from elsewhere closes it.
import { createInterface, type Interface } from 'node:readline/promises';
import type { Answer, Escalation } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import { answerLine, isChoice, isOption } from '../../views/question.ts';
import type { LiveView } from '../live.ts';
import { hanging, type Style } from '../terminal.ts';
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

function readReply(text: string, options: number, onlyChoice: boolean): Reply {
  const word = text.trim().toLowerCase();
  if (word === '' || word === '?') return { kind: 'show', isWhole: word === '?' };
  const option = /^[1-9]$/.test(word) ? Number(word) : undefined;
  if (option !== undefined)
    return option <= options ? { kind: 'option', option } : { kind: 'invalid', why: countWords(options) };
  const kind = kinds.find(one => word === one || word === one[0]);
  if (onlyChoice && kind !== 'skip' && kind !== 'abort')
    return {
      kind: 'invalid',
      why: 'Type a number, s (leave it out) or a (end the loop): nothing is done twice on a guess.',
    };
  return kind === undefined ? { kind: 'invalid', why: 'Type a number, c, s, r or a.' } : { kind };
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

/** The question as the screen holds it, or all of it, with what may be typed. */
function asked(escalation: Escalation, style: Style, isWhole = false): string {
  const keys = keysOf(escalation).map(([key, does]) => `${key} = ${does}`);
  const card = questionCard(escalation, style, isWhole ? undefined : 'type ?');
  return `${card}\n${style.paint('quiet', hanging('    ', keys.join(', '), style.columns()))}`;
}

/** Asks until the answer can be used. */
async function replyTo(
  escalation: Escalation,
  lines: Interface,
  stop: AbortSignal,
  show: (isWhole: boolean) => void,
): Promise<Answer> {
  for (;;) {
    const text = await lines.question(`${escalation.id} (Enter = read it again) > `, { signal: stop });
    const reply = readReply(text, escalation.options.length, isChoice(escalation));
    if (reply.kind === 'invalid') process.stderr.write(`${reply.why}\n`);
    else if (reply.kind === 'show') show(reply.isWhole);
    else if (reply.kind !== 'custom') return reply;
    else {
      const guidance = (await lines.question('Your guidance > ', { signal: stop })).trim();
      if (guidance !== '') return { kind: 'text', text: guidance };
    }
  }
}

export function askAtTerminal(view: LiveView, style: Style, onCtrlC: () => void) {
  let busy: Promise<unknown> = Promise.resolve();
  const one = async (escalation: Escalation, loop: string, stop: AbortSignal): Promise<Answer | undefined> => {
    if (stop.aborted) return undefined;
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    view.line(asked(escalation, style));
    const release = view.hold(() => lines.prompt(true));
    lines.on('SIGINT', onCtrlC);
    try {
      return await replyTo(escalation, lines, stop, isWhole => {
        process.stderr.write(`${asked(escalation, style, isWhole)}\n`);
      });
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
    const turn = busy.then(() => one(escalation, loop.name, stop));
    busy = turn;
    return turn;
  };
}
