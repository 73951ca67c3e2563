// `ralph checkpoint create`: keeps what is there now, by hand.
import { createCheckpoint } from '../../app/rewind.ts';
import { hasStorageTrouble } from '../../core/state.ts';
import { UsageError } from '../../text/errors.ts';
import { fileWords, keptOf } from '../checkpoints.ts';
import type { Context, Flags, Words } from '../context.ts';
import { plain } from '../terminal.ts';

const labelCharsMax = 200;

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { history, workspace } = await keptOf(context, name, { writes: true });
  const { state, row } = history;
  const text = plain(String(flags['label'] ?? ''))
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (text.length > labelCharsMax) throw new UsageError(`--label has more than ${labelCharsMax} characters.`);
  if (!state.settings.checkpoints)
    throw new UsageError(`Checkpoints are switched off in loop ${row.name}.`, 'Run it once without --no-checkpoints.');
  if (hasStorageTrouble(state))
    throw new UsageError(`Loop ${row.name} has trouble with its disk or its files.`, 'Answer it first: ralph inbox', 5);
  const sender = { env: context.env, by: context.by, warn: context.say };
  const label = text === '' ? 'by hand' : `by hand: ${text}`;
  const made = await createCheckpoint(history, sender, workspace, label);
  if (made.type === 'failed') throw new UsageError(`No checkpoint was made: ${plain(made.problem)}`, 'ralph inbox', 5);
  if (made.type === 'asked') {
    context.say(
      `The checkpoint is asked for; ${row.name} has not made it yet. Look: ralph checkpoint list ${row.name}`,
    );
    return 0;
  }
  const { number, skipped } = made.event;
  const without = skipped.length === 0 ? '' : `, without ${fileWords(skipped.length)}`;
  context.say(`Checkpoint ${number} of ${row.name} was made${without}.`);
  for (const { path, why } of skipped.slice(0, 10)) context.say(`    ${plain(path)}: ${why}`);
  context.say(`  Go back to it: ralph checkpoint restore ${number} ${row.name}`);
  return 0;
}
