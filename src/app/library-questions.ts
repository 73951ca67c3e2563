// Lets a program answer a loop's questions, and lets the loop come back when the program leaves one open.
import type { Engine } from '../engine/engine.ts';
import type { Ledger } from '../ports/store.ts';
import type { AnswerQuestion } from './library-options.ts';

interface Questions {
  readonly asking: Pick<Engine, 'ask'>;
  /** The same engine, which waits for answers only as long as one may still come. */
  readonly patient: (engine: Engine) => Engine;
}

export function questioned(
  ledger: Ledger,
  answer: AnswerQuestion | undefined,
  say: (sentence: string) => void,
): Questions {
  if (answer === undefined) return { asking: {}, patient: engine => engine };
  const wakes = new Set<() => void>();
  let thinking = 0;
  let hasDeclined = false;
  const ask: NonNullable<Engine['ask']> = async (question, state, stop) => {
    thinking += 1;
    const given = await Promise.resolve()
      .then(() => answer(question, state, stop))
      .catch((error: unknown) => say(`onEscalation threw at ${question.id}: ${String(error)}`));
    thinking -= 1;
    if (given === undefined) {
      hasDeclined = true;
      for (const wake of wakes) wake();
    }
    return given ?? undefined;
  };
  const { mailbox } = ledger;
  const heard: Ledger = {
    ...ledger,
    mailbox: {
      send: (loop, by, body, at) => mailbox.send(loop, by, body, at),
      waiting: loop => mailbox.waiting(loop),
      watch: changed => {
        const stop = mailbox.watch(changed);
        wakes.add(changed);
        return () => {
          wakes.delete(changed);
          stop();
        };
      },
    },
  };
  const patient = (engine: Engine): Engine => ({
    ...engine,
    ledger: heard,
    get answerMsMax() {
      return hasDeclined && thinking === 0 ? 0 : (engine.answerMsMax ?? Number.POSITIVE_INFINITY);
    },
  });
  return { asking: { ask }, patient };
}
