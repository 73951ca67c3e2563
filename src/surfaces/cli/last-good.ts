// Finds the copy that an unfinished loop keeps of its document, for the day the document itself is broken.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loopFolder } from '../../app.ts';
import type { Context } from './context.ts';

export async function lastGoodCopy(context: Context, document: string): Promise<string | undefined> {
  if (!context.hasLedger()) return undefined;
  const ledger = await context.ledger();
  const [row] = await ledger.store.loops({ document, open: true });
  const copy = row === undefined ? undefined : join(loopFolder(context.home(), row.loop), 'document');
  return copy !== undefined && existsSync(copy) ? copy : undefined;
}
