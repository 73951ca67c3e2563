// `ralph notes`: what earlier loops of this repository found out, shown, opened in an editor, switched off and on.

import { editNotes, type NotesFile, readNotes, switchNotes } from '../../app/notes.ts';
import { UsageError } from '../../text/errors.ts';
import { type Context, type Flags, printJson, type Words } from '../context.ts';

export async function show(context: Context, _words: Words, flags: Flags): Promise<number> {
  const { path, isOn, text } = await readNotes(context.home(), context.directory);
  if (flags['json'] === true) return printJson(context, { path, on: isOn, text: text ?? '' });
  if (text === undefined) context.say('There are no notes yet: Ralph adds what a loop found out when it ends.');
  else context.print(text.trimEnd());
  context.say(`${isOn ? 'File' : 'Notes are off (on again: ralph notes on). File'}: ${path}`);
  return 0;
}

export async function edit({ home, env, directory }: Context): Promise<number> {
  const { path, problem } = await editNotes({ home: home(), env, directory });
  if (problem !== undefined) throw new UsageError(problem, `Edit the file yourself: ${path}`);
  return 0;
}

const switchTo = async (context: Context, isOn: boolean): Promise<NotesFile> =>
  switchNotes(context.home(), context.directory, isOn);

export async function off(context: Context): Promise<number> {
  const { path } = await switchTo(context, false);
  context.say('Notes are off for this repository: nothing is added, and no prompt gets them.');
  context.say(`They are kept in ${path}. On again: ralph notes on`);
  return 0;
}

export async function on(context: Context): Promise<number> {
  const { path } = await switchTo(context, true);
  context.say(`Notes are on for this repository: ${path}`);
  return 0;
}
