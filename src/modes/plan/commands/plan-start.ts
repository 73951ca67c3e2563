// Begins the loop of a plan with its approval, or gives an open loop the new one; nothing of the plan is done by it.
import { documentSource } from '../../../app/documents.ts';
import { prepareLoop } from '../../../app/session/prepare.ts';
import { type Approval, planAsRead } from '../session/vault.ts';
import { buildEngine, freshId, loopFolder, loopName, runEngine, storeError } from '../../../app/app.ts';
import { Bug } from '../../../text/errors.ts';
import type { Command, Input } from '../../../core/input.ts';
import { type Context, type Flags, sendCommand } from '../../../cli/context.ts';
import { rememberedBy } from '../../../cli/remembered.ts';

/** Records a yes in the ledger of the plan at this path; gives the loop's name. */
export async function recordApproval(
  context: Context,
  path: string,
  approval: Approval,
  flags: Flags,
): Promise<string> {
  const { subject, hash, by, because } = approval;
  const yes: Command = { type: 'approve', subject, hash, because };
  const ledger = await context.ledger({ write: true, create: true });
  const [row] = await ledger.store.loops({ document: path, open: true });
  if (row !== undefined) {
    await sendCommand({ ...context, by }, row, [yes]);
    return row.name;
  }
  const place = { env: context.env, directory: context.directory, home: context.home() };
  const prepared = await prepareLoop(place, {
    file: path,
    flags: { ...flags, mode: 'plan' },
    remembered: rememberedBy(context, true),
    isOnlyRecorded: true,
  });
  const { document, run } = prepared;
  const loop = await freshId();
  const taken = new Set((await ledger.store.loops()).map(one => one.name));
  const name = await loopName(run.config.name, document.id ?? document.project, loop, taken);
  const start: Input = {
    type: 'start',
    loop,
    name,
    goal: document.goal,
    document: prepared.path,
    directory: context.directory,
    projectId: document.id ?? subject,
    taskId: run.config.taskId ?? '',
    settings: run.settings,
    by,
  };
  const { directory, home, env } = place;
  const folder = loopFolder(home, loop);
  const opened = await documentSource(env, { mode: 'plan', path: prepared.path, directory, folder });
  const where = { directory, document: prepared.path };
  const engine = await buildEngine({ home, env, ledger, loop, ...opened, place: where, warn: context.say, by });
  const read = await planAsRead(opened.source);
  const first: readonly Input[] = [start, { type: 'command', command: yes, by }, read];
  const result = await runEngine(engine, loop, { interrupt: new AbortController().signal, settleOnly: true, first });
  if (result.type === 'failed') throw storeError(result.failure);
  if (result.type !== 'waiting') throw new Bug(`a loop that was only begun is ${result.type}`);
  return name;
}
