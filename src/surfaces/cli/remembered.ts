// What an unfinished loop remembers of its document and its settings, read before anything is written.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loopFolder, openLedger, stateOf } from '../../app.ts';
import type { Settings } from '../../core/limits.ts';
import type { Context } from './context.ts';
import type { Remembered } from './prepare.ts';

async function lastGoodCopy(context: Context, document: string): Promise<string | undefined> {
  if (!context.hasLedger()) return undefined;
  const ledger = await context.ledger();
  const [row] = await ledger.store.loops({ document, open: true });
  const copy = row === undefined ? undefined : join(loopFolder(context.home(), row.loop), 'document');
  return copy !== undefined && existsSync(copy) ? copy : undefined;
}

/** Undefined when there is none, or when it cannot be read: whoever opens the ledger to write says why. */
async function settingsBefore(context: Context, document: string): Promise<Settings | undefined> {
  if (!context.hasLedger()) return undefined;
  const open = () => openLedger({ home: context.home(), env: context.env, warn: () => {}, readOnly: true });
  const ledger = await open().catch(() => undefined);
  try {
    const [newest] = (await ledger?.store.loops({ document })) ?? [];
    if (ledger === undefined || newest === undefined || newest.reason !== null) return undefined;
    return (await stateOf(ledger, newest.loop)).state.settings;
  } catch {
    return undefined;
  } finally {
    await ledger?.store.close();
  }
}

export function rememberedBy(context: Context, isNew: boolean): Remembered {
  return {
    lastGood: path => lastGoodCopy(context, path),
    settings: async path => (isNew ? undefined : settingsBefore(context, path)),
  };
}
