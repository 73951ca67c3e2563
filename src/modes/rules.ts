// Rules of every mode: one row each, plain data. The ledger needs them to read loops of releases that recorded no policy.

import type { ModeRules } from '../core/mode.ts';
import { type Settings, settingsBy } from '../core/settings.ts';
import { UsageError } from '../text/errors.ts';
import { goalRules } from './goal/rules.ts';
import { interviewRules } from './interview/rules.ts';
import { planRules } from './plan/rules.ts';
import { prdRules } from './prd/rules.ts';
import { projectRules } from './project/rules.ts';
import { promptRules } from './prompt/rules.ts';
import { reviewRules } from './review/rules.ts';

const table = {
  goal: goalRules,
  prompt: promptRules,
  prd: prdRules,
  project: projectRules,
  plan: planRules,
  review: reviewRules,
} as const satisfies Readonly<Record<string, ModeRules>>;

export type ModeName = keyof typeof table;

export const modeNames = Object.keys(table) as readonly ModeName[];

/** A project is interviewed about its spec.md before its tasks are executed. */
export const isInterview = (name: string, document: string): boolean =>
  name === 'project' && /(^|[\\/])spec\.md$/.test(document);

/** Undefined for a mode of a newer version. */
export function findRules(name: string, document = ''): ModeRules | undefined {
  if (isInterview(name, document)) return interviewRules;
  return Object.hasOwn(table, name) ? table[name as ModeName] : undefined;
}

/** The settings of a loop of this mode when nobody set anything. */
export function defaultSettings(name: string, document?: string): Settings {
  const rules = findRules(name, document);
  if (rules === undefined) throw unknownMode(name);
  return settingsBy(rules);
}

export const unknownMode = (name: string): UsageError =>
  new UsageError(
    `The mode ${JSON.stringify(name)} is not known here: its loop was made by a newer version of Ralph.`,
    'Update Ralph, or use the version that made it.',
  );
