// Lets a program answer a loop's questions, and lets the loop come back when the program leaves one open.

import { untilAborted } from '../../agents/performer.ts';
import type { Answer, Escalation } from '../../core/event.ts';
import { isAnswer } from '../../core/input.ts';
import type { State } from '../../core/state.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type AskedQuestion, askedQuestion } from '../../views/ending.ts';
import type { AnswerQuestion } from './options.ts';
import { reasonOf } from './performer.ts';

interface Questions {
  readonly asking: Pick<Engine, 'ask'>;
  /** The same engine, which waits for answers only as long as one may still come. */
  readonly patient: (engine: Engine) => Engine;
}

/** Answers to the same question between two iterations: more of them change nothing, and nothing else would end it. */
const answersMax = 3;

/** One that nothing can be done with would leave the question open, and it would be asked again at once. */
function problemOf({ kind, options, optionIds }: AskedQuestion, answer: unknown): string | undefined {
  if (!isAnswer(answer)) return 'answered with what is no answer';
  if (answer.kind === 'option') {
    const { option } = answer;
    const isThere =
      typeof option === 'number' ? options[option - 1] !== undefined : optionIds.some(id => id === option);
    if (!isThere) return `chose option ${option} of ${options.length}`;
  }
  if (kind === 'effect' && (answer.kind === 'text' || answer.kind === 'retry'))
    return `answered with ${answer.kind}, which does not say whether it happened`;
  return undefined;
}

/** What the program says; undefined, and a word about it, when that is nothing that counts. */
function checkedAnswers(answer: AnswerQuestion, say: (sentence: string) => void): AnswerQuestion {
  const given = new Map<string, number>();
  let iterations = 0;
  const answered = async (
    ...asked: Parameters<AnswerQuestion>
  ): Promise<Answer | { readonly problem: string } | undefined> => {
    const [question, state] = asked;
    if (state.iterations.begun !== iterations) given.clear();
    iterations = state.iterations.begun;
    const { kind, task = '', performer = '' } = question;
    const same = `${kind} ${task} ${performer}`;
    const times = given.get(same) ?? 0;
    if (times >= answersMax) return { problem: `has answered the same question ${times} times` };
    given.set(same, times + 1);
    try {
      const said = (await answer(...asked)) ?? undefined;
      const problem = said === undefined ? undefined : problemOf(question, said);
      return problem === undefined ? said : { problem };
    } catch (error) {
      return { problem: `threw (${reasonOf(error)})` };
    }
  };
  return async (question, state, stop) => {
    const said = await answered(question, state, stop);
    if (said === undefined || !('problem' in said)) return said;
    say(`onEscalation ${said.problem}: ${question.id} stays open.`);
    return undefined;
  };
}

export function answeredBy(
  ledger: Ledger,
  answer: AnswerQuestion | undefined,
  say: (sentence: string) => void,
): Questions {
  if (answer === undefined) return { asking: {}, patient: engine => engine };
  const wakes = new Set<() => void>();
  let thinking = 0;
  let hasDeclined = false;
  const asked = checkedAnswers(answer, say);
  const ask = async (question: Escalation, state: State, stop: AbortSignal): Promise<Answer | undefined> => {
    thinking += 1;
    // Not before the engine rests: what the program does at once (fire its signal) must find it awake to that.
    const thought = Promise.resolve().then(() => asked(askedQuestion(question), state, stop));
    // A program that still thinks when the question is over is not waited for.
    const given = await Promise.race([thought, untilAborted(stop)]);
    thinking -= 1;
    if (given === undefined && !stop.aborted) {
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
