// Approval of a plan by a host: it sees what it would say yes to, and its yes is recorded in the plan's loop. Nothing of the
// plan is done by it.
import { basename } from 'node:path';
import { termsNow } from '../../../app/actions.ts';
import { buildEngine, loopFolder, newLoop, resolveRunConfig, storeError } from '../../../app/app.ts';
import { filedSince, looserWords } from '../../../app/approved-terms.ts';
import { documentSource } from '../../../app/documents.ts';
import { withLease } from '../../../app/loops/find.ts';
import { startInput } from '../../../app/session/launch.ts';
import { type Draft, prepareLoop } from '../../../app/session/prepare.ts';
import { keptValues } from '../../../app/session/resume-rules.ts';
import type { Gate, Host } from '../../../app/session/session.ts';
import type { Command, Input } from '../../../core/input.ts';
import type { ApprovedTerms, Settings } from '../../../core/settings.ts';
import type { State } from '../../../core/state.ts';
import { allTasks, type TaskSpec } from '../../../core/task.ts';
import { lenient } from '../../../documents/document.ts';
import type { Lease, Ledger } from '../../../ledger/ledger.ts';
import { Bug, UsageError } from '../../../text/errors.ts';
import { vaultRootOf } from '../../../text/step-path.ts';
import { changesSince, planRefusals, planWarnings, refuseRenumbered } from './changes.ts';
import { loopOfPlan, type PlanLoop, planKey, refreshDashboard } from './loops.ts';
import { type Approval, approvePlan, doubtfulBoxes, planAsRead, planAt, refuseApproval } from './vault.ts';

/** Records a yes in the loop of the plan at this path, which is begun when there is none; gives the loop's name. */
export type RecordApproval = (path: string, approval: Approval) => Promise<string>;

export interface ApprovalRequest extends Pick<Draft, 'env' | 'directory' | 'home' | 'flags'> {
  /** Of the plan. */
  readonly path: string;
  /** Of its vault; absent: where the plan lies. */
  readonly root?: string;
  /** How the yes came, for the ledger. */
  readonly because: string;
  readonly record?: RecordApproval;
}

export type Approved =
  | { readonly type: 'approved'; readonly plan: string; readonly path: string; readonly loop: string }
  | { readonly type: 'declined'; readonly gate: Gate }
  /** Somebody else begins it. */
  | { readonly type: 'held'; readonly lease: Lease };

type Approver = Pick<Host, 'by' | 'say' | 'decide'>;

export async function approve(request: ApprovalRequest, ledger: Ledger, host: Approver): Promise<Approved> {
  const { path, directory, flags, because, root = vaultRootOf(path, directory) } = request;
  const record: RecordApproval =
    request.record ?? ((at, yes) => recordApproval({ ...request, warn: host.say }, ledger, at, yes));
  const plan = await planAt(path, basename(path));
  const before = await loopOfPlan(ledger, plan);
  refuseApproval(plan, before);
  if (before !== undefined) await refuseRenumbered(ledger, before, plan);
  const { goal, tasks } = plan.document;
  const [refusal] = await planRefusals(tasks, { ...request, root });
  if (refusal !== undefined)
    throw new UsageError(refusal, 'Write a path inside the vault or the folder of work, then approve it.');
  const shown = {
    subject: plan.id,
    hash: plan.hash,
    goal,
    tasks,
    changes:
      before === undefined
        ? []
        : [...(await changesSince(ledger, before, plan)), ...(await looserTerms(request, before, tasks))],
    warnings: await planWarnings(tasks, { ...request, root }),
  };
  const doubt = flags['acceptTicked'] === true ? undefined : doubtfulBoxes(plan, before);
  const gates: readonly Gate[] = [
    ...(doubt === undefined ? [] : [{ id: 'ticked-boxes', ...shown, doubt } as const]),
    { id: 'approve', ...shown },
  ];
  for (const gate of gates) if (!(await host.decide(gate))) return { type: 'declined', gate };
  const yes = async (): Promise<Approved> => {
    const loop = await loopOfPlan(ledger, plan);
    const approved = await approvePlan({ root, plan, loop, by: host.by, because, record });
    await refreshDashboard(ledger, root);
    return { type: 'approved', plan: plan.id, ...approved };
  };
  // Whoever runs it holds it, and may wait for just this yes; only one at a time begins its loop.
  const isBegun = (await loopOfPlan(ledger, plan)) !== undefined;
  return isBegun ? yes() : withLease<Approved>(ledger, planKey(plan.id), lease => ({ type: 'held', lease }), yes);
}

/** What files say now; undefined: they cannot be read, and whoever runs it says what is wrong. */
async function termsOf(
  { env, directory, flags }: Pick<Draft, 'env' | 'directory' | 'flags'>,
  before: Settings,
  tasks: readonly TaskSpec[],
): Promise<ApprovedTerms | undefined> {
  const resolved = await resolveRunConfig(env, directory, flags, { mode: before.mode, kept: keptValues(before) });
  return resolved.ok ? termsNow({ ...resolved, env, directory }, tasks) : undefined;
}

/** A yes is one to the limits that files set since the one before, too. */
function raisedLimits({ document: { approval }, settings }: State, now: ApprovedTerms | undefined): readonly Command[] {
  const { looser } = filedSince(approval?.terms, now?.limits ?? {}, settings.limits);
  if (looser.length === 0) return [];
  return [{ type: 'limits', limits: Object.fromEntries(looser.map(name => [name, now?.limits[name]])), settings: {} }];
}

/** In sentences: what is more now than was approved. */
export async function looserTerms(
  place: Pick<Draft, 'env' | 'directory' | 'flags'>,
  loop: PlanLoop | undefined,
  tasks: readonly TaskSpec[],
): Promise<readonly string[]> {
  const terms = loop?.state.document.approval?.terms;
  if (loop === undefined || terms === undefined) return [];
  const now = await termsOf(place, loop.state.settings, tasks);
  return now === undefined ? [] : looserWords(terms, now, loop.state.settings);
}

/** As `RecordApproval` says. */
export async function recordApproval(
  place: Pick<Draft, 'env' | 'directory' | 'home' | 'flags'> & { readonly warn: Host['say'] },
  ledger: Ledger,
  file: string,
  { subject, hash, by, because }: Approval,
): Promise<string> {
  const yes = (terms: ApprovedTerms | undefined): Command => ({ type: 'approve', subject, hash, because, terms });
  const [row] = await ledger.store.loops({ document: file, open: true });
  if (row !== undefined) {
    const { LedgerLoops } = await import('../../../app/loops/loops.ts');
    const loops = new LedgerLoops({ ...place, ledger });
    const { state } = await loops.look(row);
    const now = await termsOf(
      place,
      state.settings,
      [...allTasks(state.tasks)].map(task => task.spec),
    );
    const sent = await loops.send(row.loop, [...raisedLimits(state, now), yes(now)], by);
    if (sent.became === 'failed') throw storeError(sent.failure);
    if (sent.became === 'refused')
      throw new UsageError(`Loop ${row.name} takes no approval.`, `ralph status ${row.name}`);
    return row.name;
  }
  const prepared = await prepareLoop({ ...place, file, ledger, isOnlyRecorded: true });
  const loop = await newLoop(ledger, prepared.config.name, prepared.document.project);
  const { env, home, warn } = place;
  const begun = { ...prepared, loop: loop.id, folder: loopFolder(home, loop.id), options: lenient, warn };
  const source = await documentSource(env, begun);
  const engine = await buildEngine(begun, { ledger, source, by });
  const first: readonly Input[] = [
    startInput(prepared, loop, prepared, by),
    { type: 'command', command: yes(prepared.terms), by },
    await planAsRead(source),
  ];
  const interrupt = new AbortController().signal;
  const { runLoop } = await import('../../../engine/run.ts');
  const result = await runLoop(engine, loop.id, { interrupt, settleOnly: true, first });
  if (result.type === 'failed') throw storeError(result.failure);
  if (result.type !== 'waiting') throw new Bug(`a loop that was only begun is ${result.type}`);
  return loop.name;
}
