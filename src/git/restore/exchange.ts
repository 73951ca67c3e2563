// Takes one piece of work out of the files, or brings it back: a restore of just what that piece changed.
import { join } from 'node:path';
import type { Exchanged, ExchangeOrder, Restored, RestoreOrder, Span } from '../checkpoints.ts';
import type { Refusal } from '../refusal.ts';

/** What an exchange is made of. */
interface Steps {
  /** The top of the working tree. */
  readonly directory: string;
  readonly restore: (order: RestoreOrder) => Promise<Restored>;
  /** The tree of what is there now, or why it cannot be told. */
  readonly treeNow: () => Promise<{ readonly ok: true; readonly tree: string } | Refusal>;
  /** The paths that the spans changed and that are not excepted. */
  readonly changed: (order: ExchangeOrder) => Promise<readonly string[]>;
}

/** One span after the other. Paths that somebody else changed too, and that cannot be merged, are left as they are. */
export async function exchange(steps: Steps, order: ExchangeOrder): Promise<Exchanged> {
  const kept = new Set<string>();
  for (const span of order.spans) {
    const left = await exchangeSpan(steps, order, span);
    if (!left.ok) return left;
    for (const path of left.kept) kept.add(path);
  }
  const paths = (await steps.changed(order)).filter(path => !kept.has(path));
  const now = await steps.treeNow();
  return now.ok ? { ok: true, paths, kept: [...kept].sort(), tree: now.tree } : now;
}

type Left = { readonly ok: true; readonly kept: readonly string[] } | Refusal;

/** Each try leaves out the paths that stood in the way of the one before, so there are no more tries than paths. */
async function exchangeSpan(steps: Steps, order: ExchangeOrder, { from, to }: Span): Promise<Left> {
  const { except = [], left, only } = order;
  const conflicts = new Set<string>();
  for (;;) {
    const now = await steps.treeNow();
    if (!now.ok) return now;
    const without = [...except, ...[...conflicts].map(path => join(steps.directory, path))];
    const span = { to, base: from, now: now.tree, isOneSpan: true as const };
    const restored = await steps.restore({ ...span, except: without, left, only });
    if (restored.ok) {
      const own = new Set(await steps.changed({ ...order, spans: [{ from, to }] }));
      return { ok: true, kept: [...conflicts, ...restored.kept.filter(path => own.has(path))] };
    }
    const more = restored.conflicts.filter(path => !conflicts.has(path));
    if (more.length === 0) return restored;
    for (const path of more) conflicts.add(path);
  }
}
