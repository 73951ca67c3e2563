// Q's chat program and its kin: how they are started, and where the answer is in what they print for people.
import type { FailureKind } from '../core/failure.ts';
import { tailOf } from '../processes/streams.ts';
import { stripControls } from '../text/text.ts';
import type { AgentEvent, Launch, LaunchOrder, Reader, StreamProblem } from './agent.ts';

interface Complaint {
  /** How a line of its own begins, in small letters. */
  readonly start: string;
  readonly kind?: FailureKind;
}

/** Ordered. Read only while no answer has begun: what an answer quotes is no complaint (B57, B67). */
const complaintsOfAll: readonly Complaint[] = [
  { start: 'you are not logged in', kind: 'auth' },
  { start: 'error: you are not logged in', kind: 'auth' },
  { start: 'monthly request limit reached', kind: 'billing' },
  { start: "the model you've selected is temporarily unavailable", kind: 'overloaded' },
];

export function chatLaunch(order: LaunchOrder): Launch {
  const model = order.model === undefined ? [] : ['--model', order.model];
  const always = ['--trust-all-tools', ...model, ...order.args];
  if (order.openingPrompt !== undefined) return { args: ['chat', ...always, order.openingPrompt], input: '' };
  return { args: ['chat', '--no-interactive', ...always], input: order.prompt };
}

const messageCharsMax = 1_000_000;
const complaintLinesMax = 12;
const complaintCharsMax = 100; // longer than any of their beginnings
const colourStart = String.fromCharCode(0x1b);
/** A coloured `> ` begins each answer; one without colour is a quotation. */
const answerStart = new RegExp(`(?:^|\\r)(?:${colourStart}\\[[\\d;?]*[A-Za-z])*${colourStart}\\[[\\d;]*m> `);
const toolLine = /\(using tool: ([\w.-]+)\)\s*$|^\W{0,4}Using tool: ([\w.-]+)/;
const toolEnd = /^\s*[-●]\s*Completed in \d/;
const billLine = /^\s*▸ Credits: /;
const serviceCode = /code: "(\w+)"/;

/** Codes of the service behind it, as it prints them after its own words. */
const serviceKinds: ReadonlyMap<string | undefined, FailureKind> = new Map([
  ['AccessDeniedException', 'auth'],
  ['ExpiredTokenException', 'auth'],
  ['UnauthorizedException', 'auth'],
  ['ThrottlingException', 'rate-limit'],
  ['ServiceQuotaExceededException', 'billing'],
]);

/** `own`: what only this one of them says. */
export function plainAnswer(own: readonly Complaint[]): Reader {
  const complaints = [...complaintsOfAll, ...own];
  let message = tailOf(messageCharsMax);
  let hasAnswer = false;
  let isInTool = false;
  let complaint: { readonly kind?: FailureKind; readonly lines: string[] } | undefined;

  function add(text: string): readonly AgentEvent[] {
    const said = `${text}\n`;
    if (!isInTool) message.add(said);
    return [{ type: 'text', text: said }];
  }

  /** What it prints of a tool's work is not its answer; without answers to be told apart, all of it is. */
  function readTool(text: string): readonly AgentEvent[] | undefined {
    const named = toolLine.exec(text);
    if (named !== null) {
      isInTool = true;
      return [{ type: 'tool', name: named[1] ?? named[2] ?? '', detail: text.trim().slice(0, 500), phase: 'began' }];
    }
    return toolEnd.test(text) && isInTool ? [{ type: 'tool', name: '', detail: '', phase: 'ended' }] : undefined;
  }

  function complain(text: string): void {
    if (complaint !== undefined && complaint.lines.length < complaintLinesMax) complaint.lines.push(text.trim());
    if (complaint !== undefined || hasAnswer) return;
    const lower = text.trimStart().slice(0, complaintCharsMax).toLowerCase();
    const found = complaints.find(({ start }) => lower.startsWith(start));
    if (found) complaint = { kind: found.kind, lines: [text.trim()] };
  }

  function plain(line: string): readonly AgentEvent[] {
    const answer = answerStart.exec(line);
    if (answer !== null) {
      message = tailOf(messageCharsMax);
      hasAnswer = true;
      isInTool = false;
      complaint = undefined;
      return add(stripControls(line.slice(answer.index + answer[0].length)));
    }
    const text = stripControls(line);
    if (billLine.test(text)) return [];
    complain(text);
    return (hasAnswer ? readTool(text) : undefined) ?? add(text);
  }

  function problem(): StreamProblem | undefined {
    if (complaint === undefined) return undefined;
    const text = complaint.lines.filter(line => line !== '').join(' ');
    const kind = complaint.kind ?? serviceKinds.get(serviceCode.exec(text)?.[1]);
    return { kind, text };
  }

  return {
    read: () => [],
    readPlain: plain,
    result() {
      const found = problem();
      return {
        get message() {
          return message.text().trim();
        },
        finished: false,
        problem: found,
      };
    },
  };
}
