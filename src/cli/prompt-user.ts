// Asks the person at the terminal: the seed's five answers, one key each. A later answer from elsewhere closes it.
import { createInterface, type Interface } from 'node:readline/promises';
import type { Answer, Escalation } from '../core/event.ts';
import type { State } from '../core/state.ts';
import { escalationCard, type LiveView } from './live.ts';
import type { Style } from './terminal.ts';

type Reply = Answer | { readonly kind: 'custom' } | { readonly kind: 'invalid'; readonly why: string };

/** Where only one of the options says enough (did it happen?), neither words nor a mere "again" are an answer. */
const isChoice = ({ kind }: Escalation): boolean => kind === 'effect';

/** Typed whole or by their first letter. */
const kinds = ['custom', 'skip', 'retry', 'abort'] as const;

/** How many numbered options there are. */
function countWords(options: number): string {
  if (options === 0) return 'There are no numbered options.';
  return options === 1 ? 'There is only option 1.' : `There are only ${options} options.`;
}

function readReply(text: string, options: number, onlyChoice: boolean): Reply {
  const word = text.trim().toLowerCase();
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

/** Asks until the answer can be used. */
async function replyTo(escalation: Escalation, lines: Interface, stop: AbortSignal): Promise<Answer> {
  const count = escalation.options.length;
  const numbers = count === 0 ? '' : `[${count === 1 ? '1' : `1-${count}`}] option  `;
  const shown = isChoice(escalation) ? '[s] skip  [a] abort' : '[c] custom  [s] skip  [r] retry  [a] abort';
  for (;;) {
    const text = await lines.question(`${escalation.id}: ${numbers}${shown} > `, { signal: stop });
    const reply = readReply(text, count, isChoice(escalation));
    if (reply.kind === 'invalid') process.stderr.write(`${reply.why}\n`);
    else if (reply.kind !== 'custom') return reply;
    else {
      const guidance = (await lines.question('Your guidance > ', { signal: stop })).trim();
      if (guidance !== '') return { kind: 'text', text: guidance };
    }
  }
}

export function askAtTerminal(view: LiveView, style: Style, onCtrlC: () => void) {
  let busy: Promise<unknown> = Promise.resolve();
  const one = async (escalation: Escalation, stop: AbortSignal): Promise<Answer | undefined> => {
    if (stop.aborted) return undefined;
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    view.line(escalationCard(escalation, style));
    const release = view.hold(() => lines.prompt(true));
    lines.on('SIGINT', onCtrlC);
    try {
      return await replyTo(escalation, lines, stop);
    } catch {
      // Answered from elsewhere, interrupted, or Ctrl-D: then it stays open for `ralph answer`.
      const others = isChoice(escalation) ? '2, 3, --abort' : '--text, --skip, --retry, --abort';
      if (!stop.aborted)
        view.line(`\n${escalation.id} stays open: ralph answer ${escalation.id} --option 1 (or ${others})`);
      return undefined;
    } finally {
      lines.close();
      release();
    }
  };
  /** One question at a time, in the order they were raised. */
  return (escalation: Escalation, _state: State, stop: AbortSignal): Promise<Answer | undefined> => {
    const turn = busy.then(() => one(escalation, stop));
    busy = turn;
    return turn;
  };
}
