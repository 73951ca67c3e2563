// The tools of an agent in its iteration: what it reports is recorded before it is answered.
import type { AgentTools } from '../agents/performer.ts';
import type { Answer, ToolCalls, ToolProblem } from './tools.ts';

type Refusal = NonNullable<Awaited<ReturnType<AgentTools['report']>>>;
type Account = Extract<Parameters<AgentTools['report']>[0], { readonly type: 'account' }>['report'];

export const agentInstructions = [
  'These tools belong to the loop that runs you. Call report_done, with evidence for each criterion, when your task meets all',
  'of them; request_human instead of guessing. What you report counts only when you then end your turn well.',
].join(' ');

const over = { kind: 'iteration-over', message: 'This iteration is over: nothing that is said now counts.' };

function problemOf(refusal: Refusal): ToolProblem {
  const { why: kind } = refusal;
  if (kind === 'iteration-over') return over;
  if (kind === 'too-many-reports')
    return { kind, message: `More than ${refusal.most} reports in one iteration are not taken. End your turn.` };
  if (kind === 'other-task')
    return { kind, message: `This iteration's task is ${refusal.task}: only that can be reported done here.` };
  if (kind === 'no-such-criterion')
    return { kind, message: `The task has ${refusal.criteria} criteria, numbered from 1: see them with get_task.` };
  return {
    kind,
    message: `There is no evidence for criterion ${refusal.missing.join(', ')}.`,
    hint: 'Call report_done again with evidence for each criterion; if one is not met, go on, or use report_progress or request_human.',
  };
}

const nothingSaid: Account = { completed: [], pending: [], blocked: [], decisions: [] };

export function agentCalls(agentTools: AgentTools): ToolCalls<'agent'> {
  const ask = (about: Parameters<AgentTools['ask']>[0]): Answer => {
    const answer = agentTools.ask(about);
    return answer === undefined ? { problem: over } : { result: answer };
  };
  const report = async (said: Parameters<AgentTools['report']>[0], next: string): Promise<Answer> => {
    const refusal = await agentTools.report(said);
    return refusal === undefined ? { result: { recorded: true, next } } : { problem: problemOf(refusal) };
  };
  const account = (part: Partial<Account>): Promise<Answer> =>
    report({ type: 'account', report: { ...nothingSaid, ...part } }, 'Go on.');
  return {
    get_task: () => ask('task'),
    get_handoff: () => ask('handoff'),
    budget_left: () => ask('budget'),
    report_progress: ({ completed = [], pending = [], next, phase }) => account({ completed, pending, next, phase }),
    report_done: ({ task, evidence, summary }) =>
      report({ type: 'done', task, evidence, summary }, 'End your turn: the checks decide about the claim.'),
    report_obstacle: ({ message, resolved }) =>
      account({ obstacles: [resolved === true ? { message, resolved } : { message }] }),
    request_human: ({ type, summary, context = '', options = [], question }) =>
      report(
        { type: 'question', question: { type, summary, context, options, question, attached: '' } },
        'End your turn: a person will be asked. The answer comes to the iteration after this one.',
      ),
    note_decision: ({ decision }) => account({ decisions: [decision] }),
  };
}
