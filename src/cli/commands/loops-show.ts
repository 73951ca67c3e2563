// `ralph loops show`: one loop in full: its settings, its tasks and its questions.
import { stateOf } from '../../app/app.ts';
import { packState } from '../../core/state.ts';
import { allTasks } from '../../core/task.ts';
import { type Context, type Flags, loopOf, type Words } from '../context.ts';
import { plain } from '../terminal.ts';
import { execute as status } from './status.ts';

export async function execute(context: Context, words: Words, flags: Flags): Promise<number> {
  const { ledger, row } = await loopOf(context, words[0]);
  const { state, seq, hash } = await stateOf(ledger, row.loop);
  if (flags['json'] === true) {
    context.out(JSON.stringify({ version: 1, seq, hash, state: packState(state) }, null, 2));
    return 0;
  }
  await status(context, words, {});
  context.print(`  id         ${row.loop}`);
  context.print(`  ledger     ${seq} events, head ${hash.slice(0, 16)}`);
  context.print(`  agent      ${state.settings.performers.join(', ')}`);
  context.print(`  checks     ${state.settings.checks.map(plain).join(' ; ') || 'none'}`);
  context.out('  tasks');
  for (const task of allTasks(state.tasks)) {
    const proof =
      task.status !== 'done'
        ? ''
        : task.verified === undefined
          ? 'done before'
          : task.verified
            ? 'proven'
            : 'unverified';
    context.out(`    ${task.id.padEnd(12)} ${task.status.padEnd(8)} ${proof.padEnd(11)} ${plain(task.title)}`);
  }
  return 0;
}
