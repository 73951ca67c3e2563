// Reports that an agent makes by tools while it works, bounded, and how they are heard together with its final message.

import { stripControls, takeCharacters } from '../text/text.ts';
import { type EscalateBlock, question } from './blocks.ts';
import { type Report, reportIn } from './report.ts';
import type { Signals } from './signals.ts';

/** What shows that a criterion is met, in the agent's words: `criterion` counts from 1, in the order of the task. */
export interface Evidence {
  readonly criterion: number;
  readonly evidence: string;
}

export type ToolReport =
  /** The claim: checks decide about it as about one in words. */
  | {
      readonly type: 'done';
      readonly task: string;
      readonly evidence: readonly Evidence[];
      readonly summary?: string | undefined;
    }
  | { readonly type: 'question'; readonly question: EscalateBlock }
  /** A part of its account: what is done and left, an obstacle, a decision. */
  | { readonly type: 'account'; readonly report: Report };

/** Why a report is not taken. */
export type ReportRefusal =
  /** Its iteration is over, or is to end: whatever is said now comes too late. */
  | { readonly why: 'iteration-over' }
  | { readonly why: 'too-many-reports'; readonly most: number }
  | { readonly why: 'other-task'; readonly task: string }
  | { readonly why: 'no-such-criterion'; readonly criteria: number }
  /** By their numbers. */
  | { readonly why: 'criteria-without-evidence'; readonly missing: readonly number[] };

const evidenceCharsMax = 500;
const summaryCharsMax = 300;

const bounded = (text: string, charsMax: number): string => takeCharacters(stripControls(text).trim(), charsMax);

/** Within the bounds of what is said in words. */
export function boundedReport(report: ToolReport): ToolReport {
  if (report.type === 'question') return { type: 'question', question: question(report.question) };
  if (report.type === 'account') return { type: 'account', report: reportIn({ ...report.report }).report };
  const evidence = report.evidence.map(one => ({ ...one, evidence: bounded(one.evidence, evidenceCharsMax) }));
  const summary = report.summary === undefined ? undefined : bounded(report.summary, summaryCharsMax);
  return { ...report, evidence, summary };
}

/** Lists are joined, of all else the later word counts. */
function joined(first: Report | undefined, then: Report): Report {
  if (first === undefined) return then;
  const both = <Item>(one: readonly Item[] = [], other: readonly Item[] = []): readonly Item[] => {
    const known = new Set(one.map(item => JSON.stringify(item)));
    return [...one, ...other.filter(item => !known.has(JSON.stringify(item)))];
  };
  const some = <Item>(items: readonly Item[]): readonly Item[] | undefined => (items.length === 0 ? undefined : items);
  const saysWhatIsLeft = then.pending.length + then.blocked.length + then.completed.length > 0;
  return {
    phase: then.phase ?? first.phase,
    completed: both(first.completed, then.completed),
    pending: saysWhatIsLeft ? then.pending : first.pending,
    blocked: saysWhatIsLeft ? then.blocked : first.blocked,
    decisions: both(first.decisions, then.decisions),
    assumptions: some(both(first.assumptions, then.assumptions)),
    constraints: some(both(first.constraints, then.constraints)),
    obstacles: some(both(first.obstacles, then.obstacles)),
    next: then.next ?? first.next,
  };
}

const typed = <Type extends ToolReport['type']>(reports: readonly ToolReport[], type: Type) =>
  reports.filter((one): one is Extract<ToolReport, { type: Type }> => one.type === type);

/** The claim that stands: the last one. */
const claimIn = (reports: readonly ToolReport[] = []) => typed(reports, 'done').at(-1);

/** Of several questions the first is asked, and the others go with it: none is lost. */
function asked(reports: readonly ToolReport[], inWords: EscalateBlock | undefined): EscalateBlock | undefined {
  const [first, ...later] = typed(reports, 'question').map(one => one.question);
  if (first === undefined) return inWords;
  const others = [...later, ...(inWords === undefined ? [] : [inWords])];
  const more = others.flatMap(one => [one.summary, one.context, one.question, one.attached]);
  return question({ ...first, attached: [first.attached, ...more].filter(part => part !== '').join('\n\n') });
}

/** The account of the tools is the newer word about what is done and left; a claim leaves nothing open. */
function accountOf(reports: readonly ToolReport[], inWords: Report | undefined): Report | undefined {
  const told = typed(reports, 'account').reduce<Report | undefined>((sum, one) => joined(sum, one.report), inWords);
  const claim = claimIn(reports);
  if (claim === undefined) return told && reportIn({ ...told }).report;
  const { completed = [] } = told ?? {};
  const all = completed.length > 0 || claim.summary === undefined ? completed : [claim.summary];
  return reportIn({ ...told, completed: all, pending: [], blocked: [] }).report;
}

/**
 * An escalation, by a tool or in words, beats a claim; a claim by a tool beats what the words say about it; without one the
 * words count as ever.
 */
export function withToolReports(signals: Signals, reports: readonly ToolReport[] = []): Signals {
  if (reports.length === 0) return signals;
  const escalate = asked(reports, signals.escalate);
  const report = accountOf(reports, signals.report);
  if (escalate !== undefined)
    return { ...signals, escalate, report, done: false, promise: false, checkbox: false, escalateRefused: undefined };
  if (claimIn(reports) === undefined) return { ...signals, report };
  return {
    ...signals,
    report,
    done: true,
    isByTool: true,
    doneRefused: undefined,
    checkboxRefused: undefined,
    promiseRefused: undefined,
    reportRefused: undefined,
    isReportUnread: undefined,
  };
}
