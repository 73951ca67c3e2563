// The open questions over all loops, and how one is named: E1 when that is clear, LOOP/E1 always.
import { stateOf } from '../app/app.ts';
import type { Escalation } from '../core/event.ts';
import type { Ledger, LoopRow } from '../ledger/ledger.ts';

export interface OpenQuestion {
  readonly row: LoopRow;
  readonly escalation: Escalation;
}

export async function openQuestions(ledger: Ledger): Promise<readonly OpenQuestion[]> {
  const found: OpenQuestion[] = [];
  for (const row of await ledger.store.loops({ open: true })) {
    const { state } = await stateOf(ledger, row.loop);
    for (const escalation of state.escalations) found.push({ row, escalation });
  }
  return found;
}
