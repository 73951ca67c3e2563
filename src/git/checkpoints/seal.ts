// Turns files into a checkpoint by one shell: starting five gits one after the other was half of a checkpoint's time.
import { complaint } from '../call.ts';
import { toInput } from '../paths.ts';
import { type PrivateGit, privateShell } from '../private.ts';
import { identity } from './refs.ts';

export interface SealOrder {
  readonly update: readonly string[];
  /** Empty: nothing shall point to it. */
  readonly ref: string;
  readonly message: string;
  readonly noteRef: string;
  readonly note: string;
}

export type Sealed =
  | { readonly ok: true; readonly tree: string; readonly commit: string }
  | { readonly ok: false; readonly step: 'files' | 'tree' | 'commit' | 'ref'; readonly why: string };

/**
 * The parent is the user's commit, not the last checkpoint, so that each can be freed alone; a new repository has none.
 * The ref comes last of what counts. The note only anchors the ledger: without it the checkpoint still stands.
 */
const script = `
if [ "$1" = update ]; then own update-index -z --add --remove --replace --stdin || exit 11; fi
tree=$(own write-tree $2) || exit 12
commit=$(git commit-tree "$tree" -p HEAD -m "$4" 2>/dev/null) || commit=$(git commit-tree "$tree" -m "$4") || exit 13
if [ -n "$3" ]; then
  git -c core.logAllRefUpdates=false notes "--ref=$5" add -f -m "$6" "$commit" >/dev/null 2>&1 &
  git update-ref "$3" "$commit" || { wait; exit 14; }
  wait
fi
echo "$tree $commit"
`;

const steps = { 11: 'files', 12: 'tree', 13: 'commit', 14: 'ref' } as const;
const hashMsMax = 600_000;

export async function seal(own: PrivateGit, order: SealOrder): Promise<Sealed> {
  const { update, ref, message, noteRef, note } = order;
  const missing = own.isPartial ? '--missing-ok' : '';
  const args = [update.length > 0 ? 'update' : 'keep', missing, ref, message, noteRef, note];
  const made = await privateShell(own, script, args, {
    variables: identity,
    input: toInput(update),
    timeMsMax: hashMsMax,
  });
  const [tree = '', commit = ''] = made.output.toString('latin1').trim().split(' ');
  if (made.code === 0) return { ok: true, tree, commit };
  const step = steps[made.code as keyof typeof steps] ?? 'files';
  return { ok: false, step, why: made.errors.trim() || complaint(made) };
}
