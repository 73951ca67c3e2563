// Settings as flags of a command line, in the groups that help and the reference show them in. Help loads no reader.
import { modesWith } from '../modes/registry.ts';
import { descriptionOf, fieldOf, flagName, type Key } from './fields.ts';
import { type Kind, kinds } from './kinds.ts';

/** Every setting once, the most used of a group first. */
export const settingGroups = {
  agent: [
    'agent',
    'model',
    'fallback',
    'stronger',
    'strongerAfter',
    'taskAgent',
    'phaseAgent',
    'interactive',
    'agentCommand',
    'acpCommand',
    'agentArgs',
    'agentEnv',
    'script',
    'sandbox',
  ],
  limits: [
    'maxIterations',
    'maxCost',
    'maxTokens',
    'maxDuration',
    'deadline',
    'maxAttempts',
    'maxErrors',
    'noProgress',
    'maxBlocked',
    'haltOnMaxAttempts',
    'maxAverageDuration',
    'iterationTimeout',
    'firstByteTimeout',
    'silenceTimeout',
    'backoffBase',
    'maxMemory',
    'maxProcesses',
  ],
  checks: [
    'verify',
    'checkEnv',
    'detectChecks',
    'allowRedStart',
    'requireChecks',
    'judge',
    'verifyTimeout',
    'verifyRuns',
    'protect',
    'protectAnew',
  ],
  git: [
    'noCommit',
    'noCheckpoints',
    'rollbackAfter',
    'maxCheckpointFile',
    'worktree',
    'parallel',
    'worktreeCopy',
    'worktreeSetup',
  ],
  questions: ['onEscalation', 'answerTimeout', 'stuckThreshold', 'onApproval'],
  mode: [
    'promise',
    'contextChars',
    'checkpointInterval',
    'rounds',
    'reviewer',
    'targetConfidence',
    'section',
    'workflow',
    'retries',
    'mcpConfig',
  ],
  output: ['name', 'project', 'taskId'],
} as const satisfies Readonly<Record<string, readonly Key[]>>;

/** `start`: flags of a run that are no settings. */
export type FlagGroup = keyof typeof settingGroups | 'start';

const groups = Object.entries(settingGroups) as readonly (readonly [FlagGroup, readonly Key[]])[];

/** The settings of a mode that knows these among what not every mode knows, as commander and help take them; without it, all. */
export function settingFlags(known?: readonly string[]) {
  const isKnown = (key: Key): boolean => known === undefined || known.includes(key) || modesWith(key).length === 0;
  return groups.flatMap(([group, keys]) => keys.filter(isKnown).map(key => flagRow(key, group)));
}

function flagRow(key: Key, group: FlagGroup) {
  const { kind, short, example, choices } = fieldOf(key);
  const { placeholder, isList } = kinds[kind];
  const says = descriptionOf(key).replace(/\.$/, '');
  const values = kind === 'choice' ? choices?.join('|') : hasPlainValue(kind) ? undefined : `e.g. ${quoted(example)}`;
  return {
    flags: `${short === undefined ? '' : `-${short}, `}${flagName(key)}${placeholder}`,
    description: values === undefined ? says : `${says} (${values})`,
    repeatable: isList,
    isSetting: true as const,
    group,
  };
}

/** Its placeholder says how to write it, or there is none. */
const hasPlainValue = (kind: Kind): boolean => kind === 'truth' || kind === 'whole';

function quoted(example: string): string {
  return /^[A-Za-z0-9._:,/-]+$/.test(example) ? example : `'${example}'`;
}
