// Kinds of settings in words: how help names a value, how a config file must give it, and which are lists. Help loads no reader.

export const million = 1_000_000;
export const commandCharactersMax = 10_000;

/** What a value is held to. */
export interface Bounds {
  /** Largest number, longest duration (ms) or most characters. */
  readonly most?: number;
  /** Smallest size in bytes; 64 MB unless set. */
  readonly least?: number;
  readonly choices?: readonly string[];
}

export interface Field extends Bounds {
  readonly kind: Kind;
  readonly description: string;
  readonly example: string;
  /** The word `unlimited` is allowed and reads as null. */
  readonly unlimited?: true;
  readonly short?: string;
  /** A project's own files cannot set it (DESIGN 6.13); it belongs to the user. */
  readonly userOnly?: true;
  /** Seed names of environment variables that are still read; those of one mode stand in its rules. */
  readonly formerly?: readonly string[];
}

interface KindWords {
  /** As --help names the value. */
  readonly placeholder: string;
  /** As a config file must give it. */
  readonly expected: string;
  /** May be given several times; in a file it is a list. */
  readonly isList?: true;
}

const rows = {
  whole: { placeholder: ' <number>', expected: 'a whole number' },
  money: { placeholder: ' <amount>', expected: 'an amount in dollars, like 5 or "$5"' },
  duration: { placeholder: ' <duration>', expected: 'a duration in quotes, like "2h30m"' },
  deadline: { placeholder: ' <time>', expected: 'a time in quotes, like "18:30"' },
  line: { placeholder: ' <text>', expected: 'text in quotes' },
  path: { placeholder: ' <file>', expected: 'a path in quotes' },
  slug: { placeholder: ' <name>', expected: 'a name in quotes' },
  choice: { placeholder: ' <choice>', expected: 'a known choice' },
  truth: { placeholder: '', expected: 'true or false' },
  names: { placeholder: ' <names>', expected: 'a list of variable names, like ["LANG"]', isList: true },
  roles: { placeholder: ' <roles>', expected: 'a list of roles, like ["adversarial"]', isList: true },
  commands: { placeholder: ' <command>', expected: 'a list of commands, like ["npm test"]', isList: true },
  size: { placeholder: ' <size>', expected: 'a size in quotes, like "8g"' },
  agent: { placeholder: ' <agent>', expected: 'an agent in quotes, like "claude/sonnet"' },
  agents: { placeholder: ' <agents>', expected: 'a list of agents, like ["codex"]', isList: true },
  model: { placeholder: ' <model>', expected: 'a model in quotes, like "claude-sonnet-4-5"' },
  pairs: { placeholder: ' <name=agent>', expected: 'a list like ["US-002=codex"]', isList: true },
  words: { placeholder: ' <words>', expected: 'one line of arguments in quotes, like "--add-dir ../shared"' },
  paths: { placeholder: ' <path>', expected: 'a list of paths, like ["scripts/verify"]', isList: true },
  runs: { placeholder: ' <n/m>', expected: 'runs in quotes, like "2/3"' },
  judge: { placeholder: ' <agent>', expected: 'an agent in quotes, like "codex", or "auto"' },
} as const satisfies Readonly<Record<string, KindWords>>;

export type Kind = keyof typeof rows;
export const kinds: Readonly<Record<Kind, KindWords>> = rows;
