// The yes to what cannot be undone: the name of the loop, typed or given by --confirm. Enter alone means no.
import { UsageError } from '../../text/errors.ts';
import { shellWord } from '../../text/text.ts';
import { type Context, type Flags, textFlag } from '../context.ts';
import { askLine } from '../terminal.ts';

/** `command`: what was typed, without the confirmation. */
export async function confirmedByName({ say }: Context, name: string, command: string, flags: Flags): Promise<boolean> {
  const given = textFlag(flags, 'confirm');
  const line = `${command} --confirm ${shellWord(name)}`;
  if (given === name) return true;
  if (given !== undefined)
    throw new UsageError(
      `--confirm ${JSON.stringify(given.slice(0, 60))} is not the name of this loop.`,
      `Type: ${line}`,
    );
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true || flags['input'] === false)
    throw new UsageError('This cannot be undone, and there is no terminal to ask at.', `If you mean it, type: ${line}`);
  const typed = await askLine(`This cannot be undone. Type ${name} to do it, or only Enter to leave: `);
  if (typed?.trim() === name) return true;
  say('Nothing was changed.');
  return false;
}
