// The kinds of settings: the type of each value, and how its text is read, the same way from a flag, a variable or a file.
import type { ModeName } from '../core/settings.ts';
import { readAgent, readAgents, readModel, readPairs } from './agents.ts';
import { slugOf } from './name.ts';
import type { Reading } from './reading.ts';
import {
  durationMsMax,
  readChoice,
  readDeadline,
  readDuration,
  readLine,
  readMoney,
  readNames,
  readPath,
  readRoles,
  readRuns,
  readSize,
  readTruth,
  readWhole,
} from './values.ts';
import { splitWords } from './words.ts';

export const million = 1_000_000;
export const commandCharactersMax = 10_000;

/** The type of a value once read. Money is micro-dollars, durations are ms, a deadline is epoch ms, a size bytes. */
export interface ValueByKind {
  whole: number;
  money: number;
  duration: number;
  deadline: number;
  line: string;
  path: string;
  slug: string;
  choice: string;
  truth: boolean;
  names: readonly string[];
  roles: readonly string[];
  commands: readonly string[];
  size: number;
  /** AGENT or AGENT/MODEL. */
  agent: string;
  agents: readonly string[];
  model: string;
  /** NAME=AGENT[/MODEL]. */
  pairs: readonly string[];
  /** One line, split as a shell would. */
  words: readonly string[];
  paths: readonly string[];
  /** N/M. */
  runs: string;
  /** AGENT[/MODEL] or auto. */
  judge: string;
}

export type Kind = keyof ValueByKind;

export interface Field {
  readonly kind: Kind;
  readonly description: string;
  readonly example: string;
  /** Largest number, longest duration (ms) or most characters. */
  readonly most?: number;
  /** Smallest size in bytes; 64 MB unless set. */
  readonly least?: number;
  /** The word `unlimited` is allowed and reads as null. */
  readonly unlimited?: true;
  readonly choices?: readonly string[];
  readonly short?: string;
  /** Without effect in the others: said on the command line there, it is an error. */
  readonly modes?: readonly ModeName[];
  /** A project's own files cannot set it (DESIGN 6.13); it belongs to the user. */
  readonly userOnly?: true;
  /** Seed names of environment variables still read; with `mode`, in that mode only. The more specific comes first. */
  readonly formerly?: readonly { readonly name: string; readonly mode?: string }[];
}

/** May be given several times; in a file it is a list. */
export function isList({ kind }: Field): boolean {
  return ['names', 'roles', 'commands', 'agents', 'pairs', 'paths'].includes(kind);
}

type Reader = (label: string, text: string, field: Field, now: number) => Reading<unknown>;

export const readers: Readonly<Record<Kind, Reader>> = {
  whole: (label, text, field) => readWhole(label, text, field.most ?? million, field.unlimited === true),
  money: (label, text, field) => readMoney(label, text, field.unlimited === true),
  duration: (label, text, field) => readDuration(label, text, field.most ?? durationMsMax, field.unlimited === true),
  deadline: (label, text, _field, now) => readDeadline(label, text, now),
  line: (label, text, field) => readLine(label, text, field.most ?? 200),
  path: (label, text) => readPath(label, text),
  slug: (label, text) => slugOf(text, label),
  choice: (label, text, field) => readChoice(label, text, field.choices ?? []),
  truth: (label, text) => readTruth(label, text),
  names: (label, text) => readNames(label, text),
  roles: (label, text) => readRoles(label, text),
  commands: (label, text, field) => {
    const line = readLine(label, text, field.most ?? commandCharactersMax);
    return line.ok ? { ok: true, value: [line.value] } : line;
  },
  size: (label, text, field) => readSize(label, text, field.unlimited === true, field.least),
  agent: (label, text) => readAgent(label, text),
  agents: (label, text) => readAgents(label, text),
  model: (label, text) => readModel(label, text),
  pairs: (label, text, field) => readPairs(label, text, field.choices),
  words: (label, text, field) => {
    const line = readLine(label, text, field.most ?? commandCharactersMax);
    return line.ok ? splitWords(label, line.value) : line;
  },
  paths: (label, text) => {
    const path = readPath(label, text);
    return path.ok ? { ok: true, value: [path.value] } : path;
  },
  runs: (label, text) => readRuns(label, text),
  judge: (label, text) => (text.trim() === 'auto' ? { ok: true, value: 'auto' } : readAgent(label, text)),
};
