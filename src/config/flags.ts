// Settings as flags of a command line, in the groups that help and the reference show them in. Help loads no reader.
import { type ModeWord, modesWith } from '../modes/registry.ts';
import { descriptionOf, fieldOf, flagName, type Key } from './fields.ts';
import { kinds } from './kinds.ts';
import { presetWords } from './presets.ts';

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
    'noMcp',
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
export function settingFlags(known?: readonly string[], modes?: readonly ModeWord[]) {
  const isKnown = (key: Key): boolean => known === undefined || known.includes(key) || modesWith(key).length === 0;
  return groups.flatMap(([group, keys]) => keys.filter(isKnown).map(key => flagRow(key, group, modes)));
}

/** How its value is written: its choices, what holds when nobody sets it, or an example. */
function valueWords(key: Key, modes: readonly ModeWord[] | undefined): string | undefined {
  const { kind, example, choices } = fieldOf(key);
  if (kind === 'choice') return choices?.join('|');
  const preset = presetWords(key, modes);
  if (preset !== '') return `preset ${preset}`;
  return kind === 'truth' || kind === 'whole' ? undefined : `e.g. ${quoted(example)}`; // the placeholder says it
}

function flagRow(key: Key, group: FlagGroup, modes: readonly ModeWord[] | undefined) {
  const { kind, short } = fieldOf(key);
  const { placeholder, isList } = kinds[kind];
  return {
    flags: `${short === undefined ? '' : `-${short}, `}${flagName(key)}${placeholder}`,
    /** Only help reads it: the presets of all modes in words take milliseconds. */
    get description(): string {
      const says = descriptionOf(key).replace(/\.$/, '');
      const values = valueWords(key, modes);
      return values === undefined ? says : `${says} (${values})`;
    },
    repeatable: isList,
    isSetting: true as const,
    group,
  };
}

function quoted(example: string): string {
  return /^[A-Za-z0-9._:,/-]+$/.test(example) ? example : `'${example}'`;
}
