// Registry of modes: one row each, loaded when it is needed. A document may mean a variant of its mode.

import type { Mode, ModeSession } from './mode.ts';
import { isInterview, type ModeName, unknownMode } from './rules.ts';

interface Row {
  readonly mode: (document: string) => Promise<Mode>;
  readonly session?: () => Promise<ModeSession>;
}

const interview: Row = {
  mode: async () => (await import('./interview/mode.ts')).interviewMode,
  session: async () => (await import('./interview/session.ts')).interviewSession,
};

const lists: Row = { mode: async document => (await import('./lists/mode.ts')).listModeFor(document) };

const rows: { readonly [Name in ModeName]: Row } = {
  goal: { mode: async () => (await import('./goal/mode.ts')).goalMode },
  prompt: {
    mode: async () => (await import('./prompt/mode.ts')).promptMode,
    session: async () => (await import('./prompt/session.ts')).promptSession,
  },
  prd: {
    mode: async () => (await import('./prd/mode.ts')).prdMode,
    session: async () => (await import('./prd/session.ts')).prdSession,
  },
  project: {
    mode: async () => (await import('./project/mode.ts')).projectMode,
    session: async () => (await import('./project/session.ts')).projectSession,
  },
  plan: {
    mode: async () => (await import('./plan/mode.ts')).planMode,
    session: async () => (await import('./plan/session/vault.ts')).planSession,
  },
  review: {
    mode: async () => (await import('./review/mode.ts')).reviewMode,
    session: async () => (await import('./review/session.ts')).reviewSession,
  },
};

/** Lists are worked through as a PRD is. */
function rowOf(name: string, document: string): Row {
  if (!Object.hasOwn(rows, name)) throw unknownMode(name);
  if (isInterview(name, document)) return interview;
  return name === 'prd' && !/\.jsonc?$/i.test(document) ? lists : rows[name as ModeName];
}

export const openMode = async (name: string, document: string): Promise<Mode> => rowOf(name, document).mode(document);

export const openModeSession = async (name: string, document: string): Promise<ModeSession> =>
  (await rowOf(name, document).session?.()) ?? {};
