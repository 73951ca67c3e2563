// Amazon Q Developer's CLI and what its successor Kiro shares with it: how the chat is started, and where the answer is in
// what it prints for people. By its manual and its public source: plain text out, its end is its exit.
import type { FailureKind } from '../../core/failure.ts';
import { stripControls } from '../../text/text.ts';
import type { AgentCli, AgentEvent, Launch, LaunchOrder, Reader } from '../agent.ts';
import { modelArgs, networkVariables } from '../launch.ts';
import { openAnswer, toolEnded } from '../reader.ts';

/**
 * Source: aws/amazon-q-developer-cli, the chat command: what comes on stdin is added to the prompt, and the answer goes
 * to stdout when it is not interactive (#878). Without a login it ends with code 1 and says so on stderr.
 */
export const q: AgentCli = {
  name: 'q',
  program: 'q',
  proof: 'documented',
  can: { steer: false, resume: false, interactive: true, usage: false },
  install: 'see https://github.com/aws/amazon-q-developer-cli',
  cost: 'none',
  namesModel: false,
  vendor: 'anthropic',
  chosenFor: ['work'],
  beware:
    'It was never run by us. The name `q` is also that of other programs: see with `ralph agents list` what is found. It prints plain text.',
  environment: [...networkVariables, 'AMAZON_Q_SIGV4'],
  fixedEnvironment: { Q_DISABLE_TELEMETRY: '1' },
  login: {
    variables: [],
    files: [], // its login is a row of a database that is there without one too
    command: 'q login',
    missing: ['error: You are not logged in', 'You are not logged in'],
  },
  launch: chatLaunch,
  reader: () => plainReader([{ start: 'amazon q is having trouble responding' }]),
};

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
  const always = ['--trust-all-tools', ...modelArgs(order), ...order.args];
  if (order.openingPrompt !== undefined) return { args: ['chat', ...always, order.openingPrompt], input: '' };
  return { args: ['chat', '--no-interactive', ...always], input: order.prompt };
}

const complaintLinesMax = 12;
const complaintCharsMax = 100; // longer than any of their beginnings
const escapeCode = String.fromCharCode(0x1b);
/** A colored `> ` begins each answer; one without color is a quotation. */
const answerStart = new RegExp(`(?:^|\\r)(?:${escapeCode}\\[[\\d;?]*[A-Za-z])*${escapeCode}\\[[\\d;]*m> `);
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
export function plainReader(own: readonly Complaint[]): Reader {
  const answer = openAnswer(text => text.trim());
  const complaints = [...complaintsOfAll, ...own];
  let hasAnswer = false;
  let isInTool = false;
  let complaint: { readonly kind?: FailureKind; readonly lines: string[] } | undefined;

  function add(text: string): readonly AgentEvent[] {
    if (!isInTool) answer.add(`${text}\n`);
    return [{ type: 'text', text: `${text}\n` }];
  }

  /** What it prints of a tool's work is not its answer; without answers to be told apart, all of it is. */
  function readTool(text: string): readonly AgentEvent[] | undefined {
    const named = toolLine.exec(text);
    if (named === null) return isInTool && toolEnd.test(text) ? toolEnded : undefined;
    isInTool = true;
    return [{ type: 'tool', name: named[1] ?? named[2] ?? '', detail: text.trim().slice(0, 500), phase: 'began' }];
  }

  /** All lines after the first of a complaint belong to it, up to a limit. */
  function readComplaint(text: string): void {
    if (complaint === undefined && !hasAnswer) {
      const lower = text.trimStart().slice(0, complaintCharsMax).toLowerCase();
      const found = complaints.find(({ start }) => lower.startsWith(start));
      if (found) complaint = { kind: found.kind, lines: [] };
    }
    if (complaint === undefined || complaint.lines.length >= complaintLinesMax) return;
    complaint.lines.push(text.trim());
    const words = complaint.lines.filter(line => line !== '').join(' ');
    answer.problem = { kind: complaint.kind ?? serviceKinds.get(serviceCode.exec(words)?.[1]), text: words };
  }

  function beginAnswer(text: string): readonly AgentEvent[] {
    answer.begin();
    answer.problem = undefined;
    complaint = undefined;
    hasAnswer = true;
    isInTool = false;
    return add(text);
  }

  return {
    read: () => [],
    readPlain(line) {
      const start = answerStart.exec(line);
      if (start !== null) return beginAnswer(stripControls(line.slice(start.index + start[0].length)));
      const text = stripControls(line);
      if (billLine.test(text)) return [];
      readComplaint(text);
      return (hasAnswer ? readTool(text) : undefined) ?? add(text);
    },
    result: answer.result,
  };
}
