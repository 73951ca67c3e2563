// Registry of modes: one row each. Rules are plain data, since the ledger needs them; the rest is loaded when it is needed.
import type { ModeRules } from '../core/mode.ts';
import { type ModeName, type Settings, settingsBy } from '../core/settings.ts';
import { UsageError } from '../text/errors.ts';
import { goalRules } from './goal/rules.ts';
import { interviewRules } from './interview/rules.ts';
import { planRules } from './plan/rules.ts';
import { prdRules } from './prd/rules.ts';
import { projectRules } from './project/rules.ts';
import { promptRules } from './prompt/rules.ts';
import { reviewRules } from './review/rules.ts';

/** Its types come from what the loaders load: an import of them would put every port below the ledger. */
interface Row<Mode = object, Session = object, Run = object> {
  readonly rules: ModeRules;
  readonly mode: () => Promise<Mode>;
  /** What it does around its loop. */
  readonly session?: () => Promise<Session>;
  /** `ralph run` of such a document, where it is more than a loop. */
  readonly run?: () => Promise<Run>;
  /** Documents that mean another mode although this one is named. */
  readonly except?: { readonly documents: RegExp; readonly mode: string };
}

const rows = {
  goal: { rules: goalRules, mode: async () => (await import('./goal/mode.ts')).goalMode },
  prompt: {
    rules: promptRules,
    mode: async () => (await import('./prompt/mode.ts')).promptMode,
    session: async () => (await import('./prompt/session.ts')).promptSession,
  },
  prd: {
    rules: prdRules,
    mode: async () => (await import('./prd/mode.ts')).prdMode,
    session: async () => (await import('./prd/session.ts')).prdSession,
    except: { documents: /^(?!.*\.jsonc?$)/is, mode: 'lists' },
  },
  lists: { rules: prdRules, mode: async () => (await import('./lists/mode.ts')).listMode },
  project: {
    rules: projectRules,
    mode: async () => (await import('./project/mode.ts')).projectMode,
    session: async () => (await import('./project/session.ts')).projectSession,
    except: { documents: /(^|[\\/])spec\.md$/, mode: 'interview' },
  },
  interview: {
    rules: interviewRules,
    mode: async () => (await import('./interview/mode.ts')).interviewMode,
    session: async () => (await import('./interview/session.ts')).interviewSession,
  },
  plan: {
    rules: planRules,
    mode: async () => (await import('./plan/mode.ts')).planMode,
    session: async () => (await import('./plan/session/vault.ts')).planSession,
    run: async () => (await import('./plan/commands/run.ts')).execute,
  },
  review: {
    rules: reviewRules,
    mode: async () => (await import('./review/mode.ts')).reviewMode,
    session: async () => (await import('./review/session.ts')).reviewSession,
  },
} satisfies Readonly<Record<string, Row>>;

type Rows = typeof rows;
type Mode = Awaited<ReturnType<Rows['prd']['mode']>>;
type Session = Awaited<ReturnType<Rows['prd']['session']>>;
type Run = Awaited<ReturnType<Rows['plan']['run']>>;

/** A mode as people and programs write it. */
export type ModeWord = keyof Rows;
type Given = ModeName | ModeWord;

const table: Readonly<Record<ModeWord, Row<Mode, Session, Run>>> = rows;

export const modeNames = Object.keys(table) as readonly ModeWord[];

export const isModeWord = (word: unknown): word is ModeWord => typeof word === 'string' && Object.hasOwn(table, word);

export const modeName = (word: ModeWord): ModeName => word as unknown as ModeName;

/** Of a goal in words. */
export const goalName = modeName('goal');
/** What holds outside of any loop. */
export const usualMode = modeName('prd');

function rowOf(name: Given) {
  const word = String(name);
  if (isModeWord(word)) return table[word];
  throw new UsageError(
    `The mode ${JSON.stringify(word)} is not known here: its loop was made by a newer version of Ralph.`,
    'Update Ralph, or use the version that made it.',
  );
}

/** The mode of a document where this one is named. */
export function modeFor(word: ModeWord, document: string): ModeName {
  const { except } = rowOf(word);
  return modeName(except?.documents.test(document) ? (except.mode as ModeWord) : word);
}

export const rulesOf = (name: Given): ModeRules => rowOf(name).rules;

/** Undefined for a mode of a newer version. */
export function findRules(name: Given): ModeRules | undefined {
  const word = String(name);
  return isModeWord(word) ? table[word].rules : undefined;
}

/** Who knows a setting that not every mode knows. */
export const modesWith = (flag: string): readonly ModeWord[] =>
  modeNames.filter(name => rulesOf(name).flags?.includes(flag));

/** The settings of a loop of this mode when nobody set anything. */
export const defaultSettings = (name: Given): Settings => settingsBy(name as ModeName, rulesOf(name));

export const openMode = async (name: Given): Promise<Mode> => rowOf(name).mode();

export const openModeSession = async (name: Given): Promise<Session> => (await rowOf(name).session?.()) ?? {};

/** How `ralph run` takes such a document; undefined: as a loop. */
export const openRun = async (name: Given): Promise<Run | undefined> => rowOf(name).run?.();
