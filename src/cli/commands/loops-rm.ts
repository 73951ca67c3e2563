// `ralph loops rm`: a loop with its worktrees, refs and folder. What the ledger recorded of it stays, but nothing shows it.
import { foldersOf, removeLoop } from '../../app/loops/remove.ts';
import { plural } from '../../text/format.ts';
import { type Context, type Flags, loopOf, sayHeld, type Words } from '../context.ts';
import { confirmedByName } from '../questions/confirm-name.ts';

const leftCode = 130;

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const isDry = flags['dryRun'] === true;
  const { ledger, loops, row } = await loopOf(context, name, !isDry);
  const { state, held } = await loops.look(row);
  if (held?.alive === true) {
    sayHeld(context, held.lease);
    context.say(`  A loop at work is not removed. End it first: ralph stop ${row.name}`);
    return 9;
  }
  const { branch } = state.loop;
  context.say(`To be removed: loop ${row.name}, with its checkpoints, its prompts and its outputs.`);
  for (const folder of foldersOf({ home: context.home(), row })) context.say(`  ${folder}`);
  if (branch !== undefined)
    context.say(`  What is not committed in its worktree is lost. The branch ${branch} goes only when it is merged.`);
  context.say('  Your own files and commits stay. There is no way back to its checkpoints: no ralph undo.');
  if (isDry) {
    context.say('Dry run: nothing was changed.');
    return 0;
  }
  if (!(await confirmedByName(context, row.name, `ralph loops rm ${row.name}`, flags))) return leftCode;
  const done = await removeLoop({ home: context.home(), env: context.env, ledger, row, state });
  if (done.type === 'held') return sayHeld(context, done.lease);
  context.say(`Loop ${row.name} is removed: ${plural(done.refs, 'ref')} in git, its folders, its place in the list.`);
  if (done.branch === 'kept')
    context.say(
      `  The branch ${branch} stays: it is not merged, or checked out. To delete it: git branch -D ${branch}`,
    );
  return 0;
}
