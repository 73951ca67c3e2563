// What an unfinished loop remembers of its document and its settings, read before anything is written.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { closedIn } from '../app/session/resume-rules.ts';
import type { Remembered } from '../app/session/prepare.ts';
import { loopFolder, openLedger, stateOf } from '../app/app.ts';
import type { State } from '../core/state.ts';
import type { Context } from './context.ts';

async function lastGoodCopy(context: Context, document: string): Promise<string | undefined> {
  if (!context.hasLedger()) return undefined;
  const ledger = await context.ledger();
  const [row] = await ledger.store.loops({ document, open: true });
  const copy = row === undefined ? undefined : join(loopFolder(context.home(), row.loop), 'document');
  return copy !== undefined && existsSync(copy) ? copy : undefined;
}

/** Undefined when there is none, or when it cannot be read: whoever opens the ledger to write says why. */
async function newestBefore(context: Context, document: string): Promise<State | undefined> {
  if (!context.hasLedger()) return undefined;
  const open = () => openLedger({ home: context.home(), env: context.env, warn: () => {}, readOnly: true });
  const ledger = await open().catch(() => undefined);
  try {
    const [newest] = (await ledger?.store.loops({ document })) ?? [];
    return ledger === undefined || newest === undefined ? undefined : (await stateOf(ledger, newest.loop)).state;
  } catch {
    return undefined;
  } finally {
    await ledger?.store.close();
  }
}

export function rememberedBy(context: Context, isNew: boolean): Remembered {
  return {
    lastGood: path => lastGoodCopy(context, path),
    settings: async path => {
      const state = isNew ? undefined : await newestBefore(context, path);
      return state?.ended === undefined ? state?.settings : undefined;
    },
    closed: async path => closedIn(await newestBefore(context, path)),
  };
}
