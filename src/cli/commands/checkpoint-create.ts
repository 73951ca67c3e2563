// `ralph checkpoint create`: keeps what is there now, by hand.
import { refuseStorageTrouble } from '../../app/restore.ts';
import { createCheckpoint } from '../../app/rewind.ts';
import { UsageError } from '../../text/errors.ts';
import { plural } from '../../text/format.ts';
import { oneLine } from '../../text/text.ts';
import { checkpointsOf } from '../checkpoints.ts';
import { type Context, type Flags, senderOf, type Words } from '../context.ts';
import { plain } from '../terminal.ts';

const labelCharsMax = 200;

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const loop = await checkpointsOf(context, name, { writes: true });
  const { state, row } = loop;
  const text = oneLine(String(flags['label'] ?? ''));
  if (text.length > labelCharsMax) throw new UsageError(`--label has more than ${labelCharsMax} characters.`);
  if (!state.settings.checkpoints)
    throw new UsageError(`Checkpoints are switched off in loop ${row.name}.`, 'Run it once without --no-checkpoints.');
  refuseStorageTrouble(loop);
  const label = text === '' ? 'by hand' : `by hand: ${text}`;
  const made = await createCheckpoint(loop, senderOf(context), loop.checkpoints, label);
  if (made.type === 'failed') throw new UsageError(`No checkpoint was made: ${plain(made.problem)}`, 'ralph inbox', 5);
  if (made.type === 'asked') {
    context.say(
      `The checkpoint is asked for; ${row.name} has not made it yet. Look: ralph checkpoint list ${row.name}`,
    );
    return 0;
  }
  const { number, skipped } = made.event;
  const without = skipped.length === 0 ? '' : `, without ${plural(skipped.length, 'file')}`;
  context.say(`Checkpoint ${number} of ${row.name} was made${without}.`);
  for (const { path, why } of skipped.slice(0, 10)) context.say(`    ${plain(path)}: ${why}`);
  context.say(`  Go back to it: ralph checkpoint restore ${number} ${row.name}`);
  return 0;
}
