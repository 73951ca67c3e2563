// `ralph run`: finds or starts the loop of a document, runs it in this terminal, and says how it ended.

import { findHere, prepareLoop, type Request } from '../../app/session/prepare.ts';
import { lookInto, previousLoop } from '../../app/session/resume-rules.ts';
import { runSession } from '../../app/session/session.ts';
import { openRun } from '../../modes/registry.ts';
import { type Context, type Flags, placeOf, type Words } from '../context.ts';
import { refuseWithoutTerminal } from '../interactive.ts';
import { alwaysJson, finish, isInteractive, terminalHost, withoutAgent } from '../run-host.ts';
import { runSummary } from '../run-summary.ts';
import { makeStyle } from '../terminal.ts';

export const execute = (given: Context, words: Words, flags: Flags): Promise<number> =>
  alwaysJson(given, flags, context => runFile(context, words, flags));

async function runFile(context: Context, [file]: Words, flags: Flags): Promise<number> {
  const request = { file, flags };
  const found = await findHere(placeOf(context), request);
  const own = flags['dryRun'] === true ? undefined : await openRun(found.mode);
  return own === undefined ? runRequest(context, { ...request, found }) : own(context, [found.path], flags);
}

export const runRequest = (given: Context, request: Request): Promise<number> =>
  alwaysJson(given, request.flags, context => runPrepared(context, request));

async function runPrepared(context: Context, { flags, ...asked }: Request): Promise<number> {
  const isNew = flags['new'] === true;
  const place = placeOf(context);
  const remembered = previousLoop(place.home, isNew, lookInto(place.home, place.env));
  const request = { ...asked, flags, remembered };
  const prepared = await prepareLoop(place, request).catch(error => withoutAgent(context, request, error));
  if (typeof prepared === 'number') return prepared;
  const isDry = flags['dryRun'] === true;
  if (prepared.run.config.interactive)
    refuseWithoutTerminal(prepared.performers, isDry || isInteractive(flags), prepared.mode.conversation !== undefined);
  for (const notice of prepared.notices) context.say(`note: ${notice}`);
  if (isDry) {
    const print = flags['json'] === true ? context.say : context.out;
    print(runSummary(prepared, undefined, makeStyle(flags)));
    context.say('Dry run: nothing was started or written.');
    return 0;
  }
  const ledger = await context.ledger({ write: true, create: true, quickCheck: true });
  const outcome = await runSession({ ledger, prepared, host: terminalHost(context, flags), isNew, flags });
  return finish({ context, flags, ledger, prepared }, outcome);
}
