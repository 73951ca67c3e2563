// `ralph hook start`: a loop that works in the session of an agent, turn by turn; prints the prompt of the first one.
import { randomUUID } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { agentOfSession, promptDocument, startInSession } from '../../app/hooks.ts';
import { allBindings, newBinding, writeBinding } from '../../hook/binding.ts';
import { readStateFile, removeStateFile, stateFilePath } from '../../hook/state-file.ts';
import { showState } from '../../hook/stop.ts';
import { UsageError } from '../../text/errors.ts';
import { type Context, type Flags, givenText, placeOf, textFlag, type Words } from '../context.ts';

/** A file of the user's, or a prompt in words, which becomes one of ours. */
async function documentOf(context: Context, what: string | undefined, flags: Flags) {
  const promise = textFlag(flags, 'completionPromise') ?? textFlag(flags, 'promise');
  const isFile = what !== undefined && what.trim() !== '' && existsSync(resolve(context.directory, what));
  if (promise?.trim() === '')
    throw new UsageError(
      'The completion promise is empty, so every message would hold it.',
      'Name a word: --completion-promise DONE',
    );
  if (isFile || flags['mode'] !== undefined) return { file: what, words: undefined, promise, mode: flags['mode'] };
  if (what === undefined) throw new UsageError('Nobody said what is to be done.', 'ralph hook start "Mend the parser"');
  const words = await givenText(context, what, 'prompt');
  return { file: await promptDocument(context.home(), words, {}), words, promise, mode: undefined };
}

export async function execute(context: Context, [what]: Words, flags: Flags): Promise<number> {
  const { env, by, say } = context;
  const named = await agentOfSession(env, textFlag(flags, 'agent'));
  const session = textFlag(flags, 'session') ?? named.session ?? '';
  const directory = realpathSync(context.directory);
  const home = context.home();
  const other = allBindings(home).find(
    one => one.session === session && (session !== '' || one.directory === directory),
  );
  if (other !== undefined)
    throw new UsageError(
      `This session has a loop already: ${other.name}.`,
      `Cancel it first: ralph stop ${other.name}; or let it go on: ralph status ${other.name}`,
    );
  const { file, words, promise, mode } = await documentOf(context, what, flags);
  const { agent: _agent, session: _session, completionPromise: _promise, headlessOk: _headless, ...settings } = flags;
  const ledger = await context.ledger({ write: true, create: true, quickCheck: true });
  const stop = new AbortController().signal;
  const holder = session === '' ? `first-${randomUUID()}` : session;
  const place = { home, env, ledger, session: holder, by, say, stop };
  const draft = { ...placeOf(context), directory, file, flags: { ...settings, mode, promise } };
  const visited = await startInSession(place, draft, named.agent);
  const { loop, name, startedAt } = visited;
  if (visited.type !== 'left') throw new UsageError(`Loop ${name} does not begin: ${visited.standing}`);
  const known = { loop, name, session, holder, directory, startedAt, headlessOk: flags['headlessOk'] === true };
  const binding = newBinding({ ...known, hasStateFile: false });
  const shown = readStateFile(directory);
  const shows = typeof shown === 'object' ? shown.values['loop'] : undefined;
  // What a loop that is over has left there is nobody's.
  if (shows !== undefined && !allBindings(home).some(one => one.name === shows)) removeStateFile(directory);
  const hasStateFile = showState(binding, visited, true, words ?? `Work on ${what ?? 'the document'}.`);
  writeBinding(home, { ...binding, hasStateFile });
  say(`Loop ${name} works in ${session === '' ? 'the first session that ends a turn here' : `session ${session}`}.`);
  say(
    `  Watch it: ralph status ${name} · cancel it: ralph stop ${name}${hasStateFile ? `, or delete ${stateFilePath(directory)}` : ''}`,
  );
  context.print(visited.prompt);
  return 0;
}
