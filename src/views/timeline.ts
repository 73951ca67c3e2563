// Timeline: one sentence per event, for people: explain, the live terminal and the event list all say the same words.

import type { Answer, Event, EventOf, EventType } from '../core/event.ts';
import { totalTokens } from '../core/state.ts';
import { proofWords } from '../core/task.ts';
import { formatDuration, plural } from '../text/format.ts';
import { questionKinds } from './question.ts';
import { endWords, recordedCostWords, windowWords } from './words.ts';

export const answerText = (answer: Answer): string =>
  answer.kind === 'option' ? `option ${answer.option}` : answer.kind === 'text' ? `"${answer.text}"` : answer.kind;

/** What a signal that counts says. */
const claimWords: { readonly [Kind in EventOf<'signal.read'>['signal']]: string } = {
  done: 'claims its task',
  promise: 'claims that all is done',
  escalate: 'asks a person',
  review: 'answers the review',
  handoff: 'asks for a fresh context',
  report: 'reports',
  'status-edit': 'claims its task in the document',
};

/** Only what happened, not what did not. */
const restoredWords = ({ written, deleted, merged, kept }: EventOf<'checkpoint.restored'>): string =>
  [
    `${plural(written, 'file')} put back`,
    ...(deleted === 0 ? [] : [`${deleted} deleted`]),
    ...(merged.length === 0 ? [] : [`${merged.length} merged with your edits`]),
    ...(kept.length === 0 ? [] : [`${kept.length} left as you have them`]),
  ].join(', ');

function reportWords({ task, report }: EventOf<'iteration.reported'>): string {
  if (report.type === 'question') return `asks a person: ${report.question.summary}`;
  if (report.type === 'done')
    return `reports ${task} done, with evidence for ${report.evidence.length === 1 ? 'a criterion' : `${report.evidence.length} criteria`}`;
  const { completed, pending, decisions, obstacles = [] } = report.report;
  const [first] = [...obstacles.map(({ message }) => message), ...decisions, ...completed, ...pending];
  return `reports${first === undefined ? '' : `: ${first}`}`;
}

const sentences: { readonly [Type in EventType]: (event: EventOf<Type>) => string } = {
  'loop.started': event => `loop ${event.name} started by ${event.by}: ${event.goal}`,
  'tasks.loaded': event => event.because,
  'tasks.added': event => `${plural(event.tasks.length, 'task')} added: ${event.because}`,
  'tasks.saved': event =>
    event.failed === undefined ? 'document brought up to date' : `document not written: ${event.failed}`,
  'task.closed': event => `${event.task} done, ${proofWords(event)}: ${event.because}`,
  'task.reopened': event => `${event.task} open again: ${event.because}`,
  'task.skipped': event => `${event.task} skipped by ${event.by}: ${event.because}`,
  'task.edit-rejected': event => event.because,
  'task.blocked': event => `${event.task} blocked: ${event.because}`,
  'iteration.started': event => `iteration ${event.iteration}: ${event.performer} on ${event.task} (${event.because})`,
  'iteration.spawned': event => `iteration ${event.iteration} runs as process ${event.pid}`,
  'iteration.heartbeat': event => `iteration ${event.iteration} is alive, quiet for ${formatDuration(event.quietMs)}`,
  'iteration.nudged': event => `iteration ${event.iteration}: ${event.level} (${event.because})`,
  'iteration.reported': event => `iteration ${event.iteration} ${reportWords(event)}`,
  'iteration.ended': event => {
    const ms = event.waitUntil === undefined ? undefined : formatDuration(event.waitUntil - event.at);
    const limited = event.waitFor === 'limit-reset';
    const waits = ms === undefined ? '' : limited ? `; ${event.performer} is limited for ${ms}` : `; goes on in ${ms}`;
    const circles = event.repetition === undefined ? '' : `; it may be going in circles: ${event.repetition.detail}`;
    return `iteration ${event.iteration} ${event.outcome}: ${event.because}${circles}${waits}`;
  },
  'action.intended': event => `${event.task}: ${event.because}`,
  'review.answered': event => `${event.task}: ${event.because}`,
  'usage.recorded': event =>
    `iteration ${event.iteration} used ${totalTokens(event.usage)} tokens, ${recordedCostWords(event.usage)}`,
  'signal.read': event =>
    event.accepted
      ? `iteration ${event.iteration} ${claimWords[event.signal]}: ${event.because}`
      : `iteration ${event.iteration}: its ${event.signal} does not count: ${event.because}`,
  'check.ended': event =>
    `check ${event.check} ${event.passed ? 'passed' : 'FAILED'}${event.flaky ? ' (flaky)' : ''} for ${event.task} in ${formatDuration(event.durationMs)}`,
  'merge.ended': event => `merge of iteration ${event.iteration} ${event.merged ? 'done' : 'failed'}: ${event.because}`,
  'proof.screened': event => `${event.task}: ${event.refused ? '' : 'note: '}${event.because.replaceAll('\n', ' ')}`,
  'work.accepted': event => `${event.task}: accepted by ${event.by}, to be checked again (${event.because})`,
  'work.committed': event =>
    event.failed === undefined
      ? `${event.task}: ${event.because.replace(' committed', ` committed (${event.commit.slice(0, 12)})`)}`
      : `${event.task}: ${event.failed}`,
  'work.set-aside': event => `${event.task}: ${event.because}`,
  'work.given-back': event => `${event.task}: ${event.because}`,
  'checkpoint.asked': event => `checkpoint asked for by ${event.by}: ${event.label}`,
  'checkpoint.made': event =>
    `checkpoint ${event.number} ${event.because}${event.skipped.length === 0 ? '' : `; without ${plural(event.skipped.length, 'file')}`}`,
  'restore.asked': event => `restore of checkpoint ${event.to.number} asked for by ${event.by}: ${event.because}`,
  'checkpoint.restored': event =>
    event.refused === undefined
      ? `checkpoint ${event.number} restored, ${restoredWords(event)}: ${event.because}`
      : `checkpoint ${event.number} NOT restored: ${event.refused}`,
  'command.refused': event => `${event.by} tried "${event.command}": refused, ${event.because}`,
  'escalation.raised': event =>
    `${event.escalation.id} needs you (${questionKinds[event.escalation.kind]}): ${event.escalation.summary} [${event.because}]`,
  'escalation.answered': event =>
    `${event.id} answered by ${event.by}: ${answerText(event.answer)}${event.late ? ' (late, no effect)' : ''}`,
  'branch.accepted': event =>
    `goes on ${event.head.ref === '' ? 'on no branch' : `on ${event.head.ref.replace(/^refs\/heads\//, '')}`}, by ${event.by}: ${event.because}`,
  'approval.given': event => `${event.subject} approved by ${event.by}: ${event.because} (${event.hash.slice(0, 12)})`,
  'guidance.given': event =>
    `guidance from ${event.by}${event.task === undefined ? '' : ` for ${event.task}`}: ${event.text}`,
  'guidance.delivered': event => `guidance ${event.id}: ${event.because}`,
  'limits.changed': event => `settings changed by ${event.by}: ${event.because}`,
  'performer.tripped': event => `breaker open: ${event.because}`,
  'performer.recovered': event => `breaker of ${event.performer} closed: ${event.because}`,
  'permissions.stated': event => `${event.performer} runs in permission mode ${event.mode}`,
  'windows.reported': event => `${event.performer}: ${windowWords(event.windows)}`,
  'budget.alerted': event => `budget at ${Math.round(event.fraction * 100)} %: ${event.because}`,
  'stop.asked': event => `stop asked by ${event.by}: ${event.because}`,
  'loop.paused': event => `paused by ${event.by}${event.now ? ', at once' : ', after the live iteration'}`,
  'loop.resumed': event => `resumed by ${event.by}: ${event.because}`,
  'loop.ended': event => `loop ended. ${endWords(event)}: ${event.because}`,
};

export function sentenceOf(event: Event): string {
  return (sentences[event.type] as (event: Event) => string)(event);
}
