// The vault's files about a plan, field for field as seed 004 has them, and no text of a document or a tool can become one.
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { Event } from '../../../../src/core/event.ts';
import type { Limits } from '../../../../src/core/settings.ts';
import { initialState, type State } from '../../../../src/core/state.ts';
import type { TaskSpec } from '../../../../src/core/task.ts';
import { evolve } from '../../../../src/modes/evolve.ts';
import { dashboard } from '../../../../src/modes/plan/views/dashboard.ts';
import { type NoteFacts, VaultView } from '../../../../src/modes/plan/views/files.ts';
import { brokenPlanFile } from '../../../../src/modes/plan/views/notes.ts';
import { defaultSettings } from '../../../../src/modes/registry.ts';
import { isoTime } from '../../../../src/text/format.ts';
import { vaultRootOf } from '../../../../src/text/step-path.ts';
import { spec, t0 } from '../../../core/given.ts';

const id = 'plan_client_onboarding_001';
const steps = [
  spec('step_1', { title: 'Draft intro email' }),
  spec('step_2', { title: 'Create calendar invite', dependsOn: ['step_1'] }),
  spec('step_3', { title: 'Post announcement', dependsOn: ['step_1', 'step_2'] }),
];
const at = (second: number): number => t0 + second * 1_000;

const started = (part: Partial<Limits> = {}, goal = 'Onboard a client'): Event => {
  const settings = defaultSettings('plan');
  return {
    type: 'loop.started',
    at: t0,
    loop: 'loop-1',
    name: 'onboarding',
    goal,
    document: '/w/vault/Approved/Plans/PLAN_client.md',
    directory: '/w',
    projectId: id,
    taskId: '',
    settings: { ...settings, limits: { ...settings.limits, ...part } },
    by: 'ada',
  };
};
const loaded = (tasks: readonly TaskSpec[] = steps): Event => ({
  type: 'tasks.loaded',
  at: t0,
  tasks,
  hash: 'h',
  because: 'read',
});
const begun = (iteration: number, task: string, second: number, attempt = 1): Event => ({
  type: 'iteration.started',
  at: at(second),
  iteration,
  task,
  performer: 'mcp:email-mcp',
  holder: 'h',
  attempt,
  because: 'ready',
});
const ended = (iteration: number, task: string, second: number, detail?: string): Event => ({
  type: 'iteration.ended',
  at: at(second),
  iteration,
  task,
  performer: 'mcp:email-mcp',
  outcome: detail === undefined ? 'succeeded' : 'failed',
  durationMs: 1_000,
  because: detail === undefined ? 'the tool answered' : 'the tool said no',
  excerpt: '',
  echo: '',
  ...(detail === undefined ? {} : { failure: { kind: 'refused' as const, detail } }),
});
const closed = (task: string, iteration: number, second: number): Event => ({
  type: 'task.closed',
  at: at(second),
  task,
  iteration,
  verified: true,
  because: 'its result is good',
});
const blocked = (task: string, second: number): Event => ({
  type: 'task.blocked',
  at: at(second),
  task,
  because: '4 attempts, 4 allowed',
});
const over = (reason: 'goal_achieved' | 'max_iterations' | 'explicit_stop', second: number): Event => ({
  type: 'loop.ended',
  at: at(second),
  reason,
  limit: reason === 'max_iterations' ? 'iterations' : undefined,
  because: reason === 'max_iterations' ? 'iteration 10 of 10 (--max-iterations)' : '3 of 3 tasks done',
});

interface Seen {
  readonly files: Readonly<Record<string, string | null>>;
  readonly state: State;
}

function seen(events: readonly Event[], facts: NoteFacts = {}): Seen {
  const view = new VaultView('/w/vault', facts);
  let state: State = initialState;
  for (const event of events) {
    state = evolve(state, event);
    view.add(event);
  }
  return { state, files: Object.fromEntries(view.files(state).map(({ path, text }) => [path.slice(9), text])) };
}

const stateFile = `In_Progress/${id}/state.md`;
const blockedFile = `Needs_Action/plan_blocked_${id}.md`;
const escalatedFile = `Needs_Action/plan_escalated_${id}.md`;
const logFile = `Logs/Plan_Execution/${id}.md`;

/** The front matter as any reader of YAML sees it, and what follows it. */
function parts(text: string | null | undefined): { readonly front: Record<string, unknown>; readonly body: string } {
  const [, front = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(text ?? '') ?? [];
  return { front: parseYaml(front), body };
}

describe('state.md', () => {
  it('given a step at work, then it holds the seed’s fields', () => {
    const { files } = seen([
      started(),
      loaded(),
      begun(1, 'step_1', 1),
      ended(1, 'step_1', 2),
      closed('step_1', 1, 2),
      begun(2, 'step_2', 3),
    ]);
    expect(files[stateFile]).toBe(`---
plan_id: ${id}
current_step: 2
iterations_remaining: 8
last_action: started step 2, attempt 1
last_action_timestamp: ${isoTime(at(3))}
loop_start_time: ${isoTime(t0)}
status: executing
---

# ${id}: executing

**Objective:** Onboard a client  
**Step:** 2 of 3, 1 done  
**Iterations left:** 8 of 10  
**Last:** started step 2, attempt 1, ${isoTime(at(3))}

Made from the ledger of loop onboarding; what is written here by hand is lost. See why: \`ralph explain onboarding\`
`);
    expect([files[blockedFile], files[escalatedFile]]).toEqual([null, null]);
  });

  it('given a plan that was only approved, then nothing says that it is in progress', () => {
    const approved: Event = { type: 'approval.given', at: t0, subject: id, hash: 'ab', by: 'ada', because: 'read' };
    expect(seen([started(), approved]).files[stateFile]).toBeNull();
  });

  it('given success, then it is gone and nothing needs anybody', () => {
    const work = steps.flatMap(({ id: task }, n) => [
      begun(n + 1, task, n),
      ended(n + 1, task, n),
      closed(task, n + 1, n),
    ]);
    const { files } = seen([started(), loaded(), ...work, over('goal_achieved', 9)]);
    expect([files[stateFile], files[blockedFile], files[escalatedFile]]).toEqual([null, null, null]);
    expect(files[logFile]).toContain('loop ended. Done');
  });
});

describe('Needs_Action', () => {
  const failing = [
    started(),
    loaded(),
    begun(1, 'step_1', 1),
    ended(1, 'step_1', 2, 'mailbox is full\nsecond line'),
    blocked('step_1', 3),
  ];

  it('given a step that was given up, then plan_blocked says which, why and what to do', () => {
    const { front, body } = parts(seen(failing).files[blockedFile]);
    expect(front).toEqual({ plan_id: id, step_num: 1, severity: 'high', action_required: true });
    expect(body).toContain('**Step 1:** Draft intro email');
    expect(body).toContain('**Error:** 4 attempts, 4 allowed\n\n> Iteration 1: mailbox is full\n> second line');
    expect(body).toContain(
      '**Plan:** Onboard a client  \n**File:** [[PLAN_client.md]]  \n**Lies in:** Approved/Plans/PLAN_client.md',
    );
    expect(body).toContain('1. Look at the step in [[PLAN_client.md]]');
    expect(body).toContain(`ralph plan run ${id}`);
  });

  it('given several attempts, then every error stands there, and who does the step', () => {
    const order = { type: 'mcp' as const, server: 'email-mcp', tool: 'send_email', params: {} };
    const events = [
      started(),
      loaded([spec('step_1', { title: 'Draft', performer: 'mcp:email-mcp', order })]),
      ...[1, 2, 3].flatMap(n => [begun(n, 'step_1', n, n), ended(n, 'step_1', n, `error ${n}`)]),
      blocked('step_1', 4),
    ];
    const text = seen(events).files[blockedFile] ?? '';
    expect(text).toContain('**By:** the tool send_email of the MCP server email-mcp');
    for (const n of [1, 2, 3]) expect(text).toContain(`> Iteration ${n}: error ${n}`);
  });

  it('given that it is tried again, then plan_blocked is gone', () => {
    const again: Event = { type: 'task.reopened', at: at(4), task: 'step_1', because: 'asked' };
    expect(seen([...failing, again]).files[blockedFile]).toBeNull();
  });

  it('given a lost reply, then the question stands in plan_blocked and the status is blocked', () => {
    const escalation = {
      id: 'E1',
      kind: 'effect' as const,
      task: 'step_1',
      summary: 'Nobody knows whether step_1 happened',
      context: 'the server died',
      options: [],
      question: '?',
      raisedAt: at(2),
    };
    const raised: Event = { type: 'escalation.raised', at: at(2), escalation, because: 'lost' };
    const { files } = seen([started(), loaded(), begun(1, 'step_1', 1), ended(1, 'step_1', 2, 'lost'), raised]);
    expect(files[blockedFile]).toContain('**Error:** E1: Nobody knows whether step_1 happened\n\n> the server died');
    expect(files[blockedFile]).toContain('ralph answer onboarding/E1');
    expect(parts(files[stateFile]).front['status']).toBe('blocked');
  });

  it('given that all iterations are used up, then plan_escalated says so with the progress', () => {
    const { files } = seen([
      started(),
      loaded(),
      begun(10, 'step_1', 1),
      ended(10, 'step_1', 2),
      closed('step_1', 10, 2),
      over('max_iterations', 3),
    ]);
    const { front, body } = parts(files[escalatedFile]);
    expect(front).toEqual({ plan_id: id, severity: 'medium', action_required: true, max_iterations_reached: true });
    expect(body).toContain('**Iterations used:** 10 of 10');
    expect(body).toContain('- Completed: 1 of 3 steps\n- Current step: 2\n');
    expect(body).toContain('ralph resume onboarding --max-iterations 20 ');
    expect(parts(files[stateFile]).front).toMatchObject({
      status: 'escalated',
      iterations_remaining: 0,
      current_step: 2,
    });
    expect(files[blockedFile]).toBeNull();
  });

  it('given a person who stopped it, then nobody is asked to act', () => {
    const { files } = seen([started(), loaded(), over('explicit_stop', 3)]);
    expect([files[blockedFile], files[escalatedFile]]).toEqual([null, null]);
  });

  it('given a plan that cannot be read, then plan_blocked lists its problems', () => {
    const problems = [{ message: 'step_1 and step_2 wait for each other.', line: 14, fix: 'Break the circle.' }];
    const file = brokenPlanFile(
      '/w/vault',
      { id, path: '/w/vault/Approved/Plans/x/a.md', objective: 'Onboard' },
      problems,
    );
    expect(file.path).toBe(`/w/vault/${blockedFile}`);
    expect(parts(file.text).front).toEqual({ plan_id: id, step_num: 0, severity: 'high', action_required: true });
    expect(file.text).toContain('**Plan:** Onboard  \n**File:** [[a.md]]  \n**Lies in:** Approved/Plans/x/a.md');
    expect(file.text).toContain('- line 14: step_1 and step_2 wait for each other. Break the circle.');
  });
});

it('given text that looks like front matter, headings, links or HTML, then it stays text', () => {
  const evil =
    'x\n---\nplan_id: other\nseverity: low\n---\n# Done\n- [x] all <script>a</script> [[Secrets]] `rm` |\u202e|';
  const events = [
    started({}, evil),
    loaded([spec('step_1', { title: evil })]),
    begun(1, 'step_1', 1),
    ended(1, 'step_1', 2, evil),
    { ...(blocked('step_1', 3) as Extract<Event, { type: 'task.blocked' }>), because: evil },
  ];
  const { files } = seen(events);
  for (const name of [stateFile, blockedFile, logFile]) {
    const text = files[name] ?? '';
    expect(text.split('\n').filter(line => /^(---|plan_id: other|severity: low|# Done|- \[x\])/.test(line))).toEqual(
      name === logFile ? [] : ['---', '---'],
    );
    expect(text).not.toMatch(/(?<!\\)<script|(?<!\\)\[\[?Secrets|\u202e|(?<!\\)\|/);
  }
  expect(files[blockedFile]).toContain('\\\\u{202e}');
  const broken = brokenPlanFile('/w/vault', { id: '../../etc\n---', path: `/w/vault/${evil}`, objective: evil }, [
    { message: evil },
  ]);
  expect(broken.path).toBe('/w/vault/Needs_Action/plan_blocked___.._etc_---.md');
  expect(broken.text?.split('\n').filter(line => line === '---')).toHaveLength(2);
});

describe('the log', () => {
  it('given attempts and decisions, then each is a line, in order', () => {
    const { files } = seen([
      started(),
      loaded(),
      begun(1, 'step_1', 1),
      ended(1, 'step_1', 2, 'no'),
      blocked('step_1', 3),
    ]);
    expect(files[logFile]?.split('\n').filter(line => line.startsWith('- '))).toEqual([
      `- ${isoTime(at(0))} loop onboarding started by ada: Onboard a client`,
      `- ${isoTime(at(1))} iteration 1: mcp:email-mcp on step_1 (ready)`,
      `- ${isoTime(at(2))} iteration 1 failed: the tool said no`,
      `- ${isoTime(at(3))} step_1 blocked: 4 attempts, 4 allowed`,
    ]);
  });

  it('given very many attempts, then it is bounded and says what it leaves out', () => {
    const many = Array.from({ length: 600 }, (_, n) => [begun(n + 1, 'step_1', n), ended(n + 1, 'step_1', n, 'no')]);
    const lines = (seen([started(), loaded(), ...many.flat()]).files[logFile] ?? '').split('\n');
    expect(lines.filter(line => line.startsWith('- '))).toHaveLength(1_000);
    expect(lines).toContain('(201 older lines: `ralph events onboarding` has them)');
  });
});

it('given the rows of a vault, then the dashboard lists what needs somebody first', () => {
  const row = { objective: 'o', completed: 1, total: 3, iterations: 2, at: t0, file: 'Approved/Plans/x.md' };
  const text = dashboard([
    { ...row, plan: 'done', status: 'completed', completed: 3 },
    { ...row, plan: 'a|b', status: 'blocked', objective: 'x | y\n# z' },
    { ...row, plan: 'new', status: 'awaiting_approval', at: 0, iterations: 0, completed: 0 },
  ]);
  expect(text.split('\n').slice(2, 9)).toEqual([
    '3 plans: 1 blocked, 1 awaiting approval, 1 completed.',
    '',
    '| plan | objective | status | progress | iterations | when | file |',
    '|---|---|---|---|---|---|---|',
    `| a\\|b | x \\| y \\# z | blocked | 1/3 | 2 | ${isoTime(t0)} | Approved/Plans/x.md |`,
    '| new | o | awaiting_approval | 0/3 | 0 |  | Approved/Plans/x.md |',
    `| done | o | completed | 3/3 | 2 | ${isoTime(t0)} | Approved/Plans/x.md |`,
  ]);
  expect(dashboard([])).toContain('No plan yet.');
});

describe('the root of a vault', () => {
  it.each([
    ['/w/vault/Plans/a.md', '/w', '/w/vault'],
    ['/w/vault/Approved/Plans/a.md', '/w', '/w/vault'],
    ['/w/vault/Pending_Approval/Plans/a.md', '/w', '/w/vault'],
    ['/w/vault/Pending_Approval/a.md', '/elsewhere', '/w/vault'],
    ['/w/vault/Plans/2026/a.md', '/w', '/w/vault'],
    ['/w/vault/Plans/a.md', '/w/vault', '/w/vault'],
    ['/w/vault/Plans/a.md', '/w/vault/Plans', '/w/vault'],
    ['/v/Approved/Plans/clients/acme/a.md', '/w', '/v'],
    ['/w/Plan.md', '/w', '/w/vault'],
    ['/home/Done/project/Plan.md', '/home/Done/project', '/home/Done/project/vault'],
    ['/home/Done/project/sub/Plan.md', '/w', '/w/vault'],
  ])('of %s in %s is %s', (document, directory, root) => {
    expect(vaultRootOf(document, directory)).toBe(root);
  });
});
