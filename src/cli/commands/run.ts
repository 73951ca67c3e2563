// `ralph run`: finds or starts the loop of a document, runs it in this terminal, and says how it ended.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Draft, findHere, prepareLoop } from '../../app/session/prepare.ts';
import { runSession } from '../../app/session/session.ts';
import { openRun } from '../../modes/registry.ts';
import { UsageError } from '../../text/errors.ts';
import { type Context, type Flags, placeOf, type Words } from '../context.ts';
import { refuseWithoutTerminal } from '../interactive.ts';
import { finish, isInteractive, terminalHost, withoutAgent } from '../run-host.ts';

export async function execute(context: Context, [file]: Words, flags: Flags): Promise<number> {
  const draft = { ...placeOf(context), file, flags };
  const found = await findHere(draft);
  const own = flags['dryRun'] === true ? undefined : await openRun(found.modeName);
  return own === undefined ? runDraft(context, { ...draft, found }) : own(context, [found.path], flags);
}

export async function runDraft(context: Context, draft: Draft): Promise<number> {
  const { flags } = draft;
  if (flags['quiet'] === true && flags['verbose'] === true)
    throw new UsageError('--verbose and --quiet contradict each other.', 'Leave one of them out.');
  const prepared = await prepareLoop(draft).catch(error => withoutAgent(context, draft, error));
  if (typeof prepared === 'number') return prepared;
  const isDry = flags['dryRun'] === true;
  if (prepared.config.interactive)
    refuseWithoutTerminal(prepared.performers, isDry || isInteractive(flags), prepared.mode.conversation !== undefined);
  for (const notice of prepared.notices) context.say(`note: ${notice}`);
  if (isDry) return (await import('../dry-run.ts')).sayDryRun(context, prepared);
  const settling = setTimeout(settle, settledMs).unref();
  try {
    const ledger = await context.ledger({ write: true, create: true, quickCheck: true });
    return await finish(context, prepared, ledger, await runSession(prepared, ledger, terminalHost(context, flags)));
  } finally {
    clearTimeout(settling);
  }
}

const settledMs = 1_000;

/**
 * An agent is at work and nobody waits for us. What a start needs is compiled by now, and V8 forgets it again in a long loop:
 * bin/ralph keeps it. Only then may V8's flags change, because it takes up neither that nor what Node brings compiled under
 * others. A start needs room for new objects that V8 would double twice more and keep (48 MB): it goes back once, with the
 * garbage, by the only collection that returns it, and does not grow again. What is compiled stays: the next iteration needs it.
 */
function settle(): void {
  (process as NodeJS.EventEmitter).emit('ralph-settled');
  for (const flag of ['--semi-space-growth-factor=1', '--no-flush-bytecode', '--expose-gc']) setFlagsFromString(flag);
  runInNewContext('globalThis.gc')({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
