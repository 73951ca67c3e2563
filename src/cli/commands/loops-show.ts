// `ralph loops show`: one loop in full: its settings, its tasks and its questions.
import { packState } from '../../core/state.ts';
import { allTasks, proofWords } from '../../core/task.ts';
import { visible } from '../../text/text.ts';
import { statusWords } from '../../views/words.ts';
import { type Context, type Flags, loopStateOf, printJson, type Words } from '../context.ts';
import { plain } from '../terminal.ts';
import { execute as status } from './status.ts';

export async function execute(context: Context, words: Words, flags: Flags): Promise<number> {
  const { loops, row, state, seq, hash } = await loopStateOf(context, words[0]);
  if (flags['json'] === true)
    return printJson(context, { ...(await loops.view(row.loop)), hash, folded: packState(state) });
  await status(context, words, {});
  context.print(`  id         ${row.loop}`);
  context.print(`  ledger     ${seq} events, head ${hash.slice(0, 16)}`);
  context.print(`  agent      ${state.settings.performers.join(', ')}`);
  context.print(`  checks     ${state.settings.checks.map(plain).join(' ; ') || 'none'}`);
  context.out('  tasks');
  for (const task of allTasks(state.tasks))
    context.out(
      `    ${task.id.padEnd(12)} ${statusWords[task.status].padEnd(8)} ${(task.status === 'done' ? proofWords(task) : '').padEnd(20)} ${visible(task.spec.title)}`,
    );
  return 0;
}
