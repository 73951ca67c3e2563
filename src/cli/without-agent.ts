// Where nothing is to be done, nobody is needed to do it: then that is said, and not that no agent is there.
import { earlierLoop } from '../app/session/resume-rules.ts';
import { prepareLoop } from '../app/session/prepare.ts';
import { UsageError } from '../text/errors.ts';
import { hasNothingLeft, sayOver } from './choose.ts';
import type { Context, Flags } from './context.ts';
import { rememberedBy } from './remembered.ts';

const noAgentCode = 7;

/** The exit code of a run that needs no agent; else the complaint goes on. */
export async function withoutAgent(
  context: Context,
  file: string | undefined,
  flags: Flags,
  error: unknown,
): Promise<number> {
  if (!(error instanceof UsageError) || error.exitCode !== noAgentCode || flags['dryRun'] === true) throw error;
  const place = { env: context.env, directory: context.directory, home: context.home() };
  const remembered = rememberedBy(context, flags['new'] === true);
  const given = await prepareLoop(place, { file, flags, remembered, isOnlyRecorded: true });
  const isSought = context.hasLedger() && flags['new'] !== true && given.mode !== 'plan';
  const earlier = isSought ? await earlierLoop(await context.ledger(), given) : undefined;
  if (earlier !== undefined && earlier.type !== 'open') return sayOver(context, earlier);
  if (earlier === undefined && hasNothingLeft(context, given)) return 0;
  throw error;
}
