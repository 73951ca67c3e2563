// Asks the person at the terminal: the seed's five answers, one key each. A later answer from elsewhere closes it.
import { createInterface } from 'node:readline/promises';
import type { Answer, Escalation } from '../core/event.ts';
import type { State } from '../core/state.ts';
import { escalationCard, type LiveView } from './live.ts';
import type { Style } from './terminal.ts';

type Reply = Answer | { readonly kind: 'custom' } | { readonly kind: 'invalid'; readonly why: string };

/** Where only one of the options says enough (did it happen?), neither words nor a mere "again" are an answer. */
const isChoice = ({ kind }: Escalation): boolean => kind === 'effect';

function readReply(text: string, options: number, onlyChoice: boolean): Reply {
  const word = text.trim().toLowerCase();
  if (/^[1-9]$/.test(word)) {
    const option = Number(word);
    return option <= options
      ? { kind: 'option', option }
      : {
          kind: 'invalid',
          why:
            options === 0
              ? 'There are no numbered options.'
              : options === 1
                ? 'There is only option 1.'
                : `There are only ${options} options.`,
        };
  }
  const words: Readonly<Record<string, Reply>> = {
    c: { kind: 'custom' },
    custom: { kind: 'custom' },
    s: { kind: 'skip' },
    skip: { kind: 'skip' },
    r: { kind: 'retry' },
    retry: { kind: 'retry' },
    a: { kind: 'abort' },
    abort: { kind: 'abort' },
  };
  const reply = words[word];
  if (onlyChoice && (reply === undefined || reply.kind === 'custom' || reply.kind === 'retry'))
    return {
      kind: 'invalid',
      why: 'Type a number, s (leave it out) or a (end the loop): nothing is done twice on a guess.',
    };
  return reply ?? { kind: 'invalid', why: 'Type a number, c, s, r or a.' };
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
      const count = escalation.options.length;
      const numbers = count === 0 ? '' : `[${count === 1 ? '1' : `1-${count}`}] option  `;
      for (;;) {
        const keys = isChoice(escalation) ? '[s] skip  [a] abort' : '[c] custom  [s] skip  [r] retry  [a] abort';
        const text = await lines.question(`${escalation.id}: ${numbers}${keys} > `, { signal: stop });
        const reply = readReply(text, count, isChoice(escalation));
        if (reply.kind === 'invalid') process.stderr.write(`${reply.why}\n`);
        else if (reply.kind === 'custom') {
          const guidance = (await lines.question('Your guidance > ', { signal: stop })).trim();
          if (guidance !== '') return { kind: 'text', text: guidance };
        } else return reply;
      }
    } catch {
      // Answered from elsewhere, interrupted, or Ctrl-D: then it stays open for `ralph answer`.
      if (!stop.aborted)
        view.line(
          `\n${escalation.id} stays open: ralph answer ${escalation.id} --option 1 (or ${isChoice(escalation) ? '2, 3, --abort' : '--text, --skip, --retry, --abort'})`,
        );
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
