// Which mail is a command that we understand: another version of Ralph may have sent it.
import type { Answer } from './event.ts';
import type { Command } from './input.ts';

/** Grows when a command changes its meaning or shape; mail of a newer version is left for a newer holder. */
export const commandVersion = 1;

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function isAnswer(value: unknown): value is Answer {
  if (!isObject(value)) return false;
  if (value['kind'] === 'option') return Number.isInteger(value['option']);
  if (value['kind'] === 'text') return typeof value['text'] === 'string';
  return value['kind'] === 'skip' || value['kind'] === 'retry' || value['kind'] === 'abort';
}

const nullable: readonly string[] = [
  'iterationsMax',
  'costUsdMicrosMax',
  'tokensMax',
  'durationMsMax',
  'deadlineAt',
  'averageIterationMsMax',
];
const bounds: readonly string[] = [
  ...nullable,
  'iterationMsMax',
  'consecutiveErrorsMax',
  'noProgressIterations',
  'attemptsPerTaskMax',
  'escalationsPerTaskMax',
];

/** A known limit is a number above zero; null, for unlimited, where that is allowed at all. */
export const isBound = ([key, value]: readonly [string, unknown]): boolean =>
  bounds.includes(key) &&
  (value === null ? nullable.includes(key) : typeof value === 'number' && Number.isFinite(value) && value > 0);

const isTable = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every(one => typeof one === 'string');

const isNames = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(one => typeof one === 'string');

/** Mail may name other checks or agents; it cannot take the checks away. */
function isChange(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isObject(value)) return false;
  return Object.entries(value).every(([key, one]) => {
    if (key === 'promise' || key === 'protectedHash') return typeof one === 'string';
    if (key === 'performersByTask' || key === 'performersByPhase') return isTable(one);
    if (key === 'checkpoints' || key === 'commits') return typeof one === 'boolean';
    if (key === 'rollbackAfter') return one === null || (Number.isInteger(one) && Number(one) > 0);
    return ['performers', 'checks'].includes(key) && isNames(one);
  });
}

const isMark = (value: unknown): boolean =>
  isObject(value) &&
  Number.isInteger(value['number']) &&
  ['checkpoint', 'commit', 'tree'].every(key => typeof value[key] === 'string');

const isTaskThen = (value: unknown): boolean =>
  isObject(value) &&
  typeof value['id'] === 'string' &&
  ['pending', 'done', 'skipped'].includes(String(value['status']));

const shapes: { readonly [Type in Command['type']]: (fields: Fields) => boolean } = {
  answer: fields => typeof fields['escalation'] === 'string' && isAnswer(fields['answer']),
  tell: fields => typeof fields['text'] === 'string' && ['string', 'undefined'].includes(typeof fields['task']),
  stop: () => true,
  pause: fields => typeof fields['now'] === 'boolean',
  resume: () => true,
  checkpoint: fields => typeof fields['label'] === 'string',
  restore: fields =>
    isMark(fields['to']) &&
    typeof fields['because'] === 'string' &&
    ['boolean', 'undefined'].includes(typeof fields['overwrite']) &&
    (fields['tasks'] === undefined || (Array.isArray(fields['tasks']) && fields['tasks'].every(isTaskThen))),
  refused: fields => typeof fields['command'] === 'string',
  approve: fields => ['subject', 'hash', 'because'].every(key => typeof fields[key] === 'string'),
  task: fields =>
    ['skip', 'retry'].includes(String(fields['act'])) &&
    typeof fields['task'] === 'string' &&
    (fields['again'] === undefined || fields['again'] === true),
  limits: fields =>
    isObject(fields['limits']) && Object.entries(fields['limits']).every(isBound) && isChange(fields['settings']),
};

export function isCommand(value: unknown): value is Command {
  if (!isObject(value) || typeof value['type'] !== 'string' || !Object.hasOwn(shapes, value['type'])) return false;
  return shapes[value['type'] as Command['type']](value);
}
