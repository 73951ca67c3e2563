// The detector of standstill: called stuck is a row that would be asked about within its iterations; a word in the prompt is not enough.
import { classifyFailure, type Failure, isNoFaultOfTask } from '../../src/core/failure.ts';
import { findStandstill, type Step } from '../../src/messages/progress/progress.ts';
import { comparable } from '../../src/messages/said.ts';
import { Story, says, second, spec } from '../core/given.ts';
import { type Detector, share } from './figure.ts';

export interface StuckRow {
  readonly id: string;
  readonly expect: 'stuck' | 'productive';
  readonly iterations: readonly {
    readonly output: string;
    readonly error: string | null;
    readonly tree: string;
    readonly failing: number | null;
    readonly closed: readonly string[];
    readonly report: string | null;
  }[];
  readonly note: string;
}

type Iteration = StuckRow['iterations'][number];

/** What a check says of so many failing tests; one that passed refused nothing, so it says nothing. */
const checkWords = (failing: number | null): string | undefined =>
  failing === null || failing === 0 ? undefined : `Tests: ${failing} failed`;

const failureIn = (error: string | null): Failure | undefined =>
  error === null ? undefined : classifyFailure({ exitCode: 1, text: error });

/** As in the core: what the provider or the network did is no step of the task. */
const isStep = ({ error }: Iteration): boolean => {
  const failure = failureIn(error);
  return failure === undefined || !isNoFaultOfTask(failure);
};

const textOf = (text: string | null): string | undefined => (text === null ? undefined : comparable(text));

/** Only what a report calls completed is news. */
function completedIn(report: string | null): string | undefined {
  if (report === null) return undefined;
  if (!report.trim().startsWith('{'))
    return comparable(report.replace(/\b(?:pending|blocked|next|obstacles?)\s*[:=][^;|\n]*/gi, ''));
  const { completed = [], phase = '' } = JSON.parse(report) as { completed?: readonly string[]; phase?: string };
  return comparable([phase, ...completed].join('; '));
}

const stepOf = ({ output, error, tree, failing, closed, report }: Iteration): Step => ({
  said: comparable(output),
  error: textOf(error),
  tree,
  check: checkWords(failing),
  report: completedIn(report),
  closed: closed.length > 0,
});

/** Through the rules alone. */
function isAsked({ iterations }: StuckRow): boolean {
  const steps = iterations.filter(isStep).map(stepOf);
  return steps.some((_, at) => findStandstill(steps.slice(0, at + 1))?.asks === true);
}

/** Through the whole core, as a list of one story with checkpoints and a check: asked, handed off, set aside or ended. */
function isStopped({ iterations }: StuckRow): boolean {
  // What an attempt costs is another limit, which binds as before.
  const limits = { attemptsPerTaskMax: 99 };
  const story = new Story({ checkpoints: true, checks: ['npm test'], limits }, [spec('A')]);
  for (const { output, error, tree, failing, closed, report } of iterations) {
    if (story.begin('A')[0]?.type !== 'iteration.started') return true;
    story.after(second);
    const detail = checkWords(failing);
    const isClaimed = detail !== undefined && error === null;
    const told = report === null ? '' : `\n<report>${JSON.stringify({ completed: [completedIn(report)] })}</report>`;
    const claim = isClaimed ? '\n\nTask A complete' : '';
    const failure = failureIn(error);
    story.performed(says(`${output}${told}${claim}`, { failure: failure && { ...failure, detail: error ?? '' } }));
    story.checkpointed(`cp-${story.state.checkpoints.made}`, tree);
    if (isClaimed)
      story.when({
        type: 'checked',
        iteration: story.state.iterations.begun,
        outcomes: [{ name: 'npm test', passed: false, detail, durationMs: 10 }],
      });
    if (story.task('A').status === 'blocked' || story.state.questions.open.length > 0) return true;
    // Its successor in the list begins with nothing behind it.
    if (closed.length > 0) story.command({ type: 'task', act: 'retry', task: 'A' });
    story.after(3_600_000);
  }
  return story.begin('A')[0]?.type !== 'iteration.started';
}

/** Every fourth row of the set: the core costs more than the rules. */
const sampleOf = (rows: readonly StuckRow[]): readonly StuckRow[] => rows.filter((_, at) => at % 4 === 0);

const shares = (rows: readonly StuckRow[], how: string, isCalled: (row: StuckRow) => boolean) => [
  share(`precision${how}`, rows.filter(isCalled), { atLeast: 0.97 }, row => row.expect === 'stuck'),
  share(
    `recall${how}`,
    rows.filter(row => row.expect === 'stuck'),
    { atLeast: 0.85 },
    isCalled,
  ),
];

export const stuckDetector: Detector = {
  name: 'stuck',
  measure: rows => {
    const own = rows<StuckRow>('stuck.jsonl');
    return [...shares(own, '', isAsked), ...shares(sampleOf(own), ', through the core', isStopped)];
  },
};
