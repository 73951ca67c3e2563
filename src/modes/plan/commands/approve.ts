// `ralph plan approve`: shows exactly what would be done, and records the yes of a person together with its hash.
import type { Gate } from '../../../app/session/session.ts';
import { type Context, type Flags, placeOf, sayHeld, type Words } from '../../../cli/context.ts';
import { openLines, workWithoutReader } from '../../../cli/terminal.ts';
import { UsageError } from '../../../text/errors.ts';
import { stepPath } from '../../../text/step-path.ts';
import { approve, looserTerms, type RecordApproval } from '../session/approve.ts';
import type { PlanFile } from '../session/files.ts';
import { refreshDashboard } from '../session/loops.ts';
import { refuseApproval, refuseDoubtfulBoxes } from '../session/vault.ts';
import { isApprovedNow, type OpenPlan, openPlan, planArgument } from './open-plan.ts';
import { approvalState, approvalText } from './plan-text.ts';

/** Enter alone is no yes: what is approved may send mail. Undefined: the person left (Ctrl-C). */
async function saysYes(question: string): Promise<boolean | undefined> {
  const lines = openLines();
  const leave = new AbortController();
  lines.on('SIGINT', () => leave.abort());
  lines.on('close', () => leave.abort());
  try {
    return ['y', 'yes'].includes((await lines.question(question, { signal: leave.signal })).trim().toLowerCase());
  } catch {
    process.stderr.write('\n');
    return undefined;
  } finally {
    lines.close();
  }
}

/** Who can be asked; absent: nobody. */
export type Ask = ((question: string) => Promise<boolean | undefined>) | undefined;

export const askHere = (flags: Flags): Ask =>
  process.stdin.isTTY === true && flags['input'] !== false ? saysYes : undefined;

export interface ApprovalNeeds {
  readonly record?: RecordApproval;
  readonly ask?: Ask;
  /** The yes was given with the command. */
  readonly isAgreed?: boolean;
  readonly flags?: Flags;
}

type PlanGate = Extract<Gate, { id: 'approve' | 'ticked-boxes' }>;

async function saidTo(
  gate: PlanGate,
  ask: Ask,
  name: string,
  say: (text: string) => void,
): Promise<boolean | undefined> {
  if (ask === undefined)
    throw new UsageError(
      'Nobody is here to ask.',
      `Read it (ralph plan show ${name}), then: ralph plan approve ${name} --yes`,
    );
  const isPlan = gate.id === 'approve';
  const said = await ask(
    isPlan
      ? `Approve exactly this (${gate.hash.slice(0, 12)})? Type y: `
      : `${gate.doubt}\nAre these boxes right, so that nothing of them is done? Type y: `,
  );
  const hint = isPlan ? '' : ' Untick what is still to be done.';
  if (said !== true) say(`Not approved; nothing was changed.${hint}`);
  return said;
}

/** A yes counts for exactly what was shown. */
function refuseEdited({ id, hash }: PlanFile, now: string): void {
  if (now !== hash)
    throw new UsageError(`Plan ${id} was edited meanwhile.`, 'Read it again: the same command as before.');
}

/** The path that it runs from then; an exit code when it was not approved. */
export async function askAndApprove(
  context: Context,
  found: OpenPlan,
  { record, ask, isAgreed = false, flags = {} }: ApprovalNeeds,
): Promise<{ readonly path: string } | { readonly exitCode: number }> {
  const { root, plan, loop } = found;
  const { directory, by, say } = context;
  const name = planArgument(context, found, plan.id, flags);
  const show = flags['json'] === true ? say : context.out;
  let isShown = false;
  let exitCode = 5;
  const decide = async (gate: Gate): Promise<boolean> => {
    if (gate.id !== 'approve' && gate.id !== 'ticked-boxes') return false;
    refuseEdited(plan, gate.hash);
    const { changes, warnings } = gate;
    const fileOf = (path: string): string => stepPath(path, root, directory);
    if (!isShown) show(approvalText({ plan, loop, changes, warnings, fileOf }));
    isShown = true;
    if ((isAgreed || ask === undefined) && gate.id === 'ticked-boxes') refuseDoubtfulBoxes(plan, loop);
    if (isAgreed) return true;
    const said = await saidTo(gate, ask, name, say);
    if (said === undefined) exitCode = 130;
    return said === true;
  };
  const because = isAgreed ? 'ralph plan approve --yes' : 'ralph plan approve, asked at the terminal';
  const ledger = await context.ledger({ write: true, create: true });
  const request = { ...placeOf(context), path: plan.path, root, flags: { ...flags, mode: 'plan' }, because, record };
  const approved = await approve(request, ledger, { by, say, decide });
  if (approved.type === 'declined') return { exitCode };
  if (approved.type === 'held') return { exitCode: sayHeld(context, approved.lease) };
  say(`Plan ${plan.id} is approved by ${by}: ${plan.hash.slice(0, 12)}, loop ${approved.loop}.`);
  return { path: approved.path };
}

export async function execute(context: Context, [word]: Words, flags: Flags): Promise<number> {
  workWithoutReader(); // an approval is recorded even when the output is closed early (| head)
  const ledger = await context.ledger({ write: true, create: true });
  const found = await openPlan(context, word, flags);
  const { plan, loop, root } = found;
  refuseApproval(plan, loop);
  const more = await looserTerms({ ...placeOf(context), flags }, loop, plan.document.tasks);
  if (isApprovedNow(plan, loop) && more.length === 0) {
    context.say(`Plan ${plan.id} is approved ${approvalState(plan, loop)}.`);
    await refreshDashboard(ledger, root);
    return 0;
  }
  const isAgreed = flags['yes'] === true;
  const approved = await askAndApprove(context, found, { ask: askHere(flags), isAgreed, flags });
  if ('exitCode' in approved) return approved.exitCode;
  const name = planArgument(context, { ...found, ...approved }, plan.id);
  context.say(`  It lies in ${approved.path} now.`);
  context.say(`  Start it: ralph plan run ${name} (a running ralph plan watch does)`);
  return 0;
}
