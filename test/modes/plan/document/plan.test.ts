// Proves that a plan is read as seed 004 writes it: steps become tasks with the order that their action carries out.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Order, TaskSpec } from '../../../../src/core/task.ts';
import type { FormatOptions, ParsedDocument } from '../../../../src/documents/document.ts';
import { lintPlan, plan } from '../../../../src/modes/plan/document/plan.ts';

const head = (changes: Record<string, unknown> = {}) => {
  const facts: Record<string, unknown> = { plan_id: 'p1', objective: 'Try it', total_steps: 1, ...changes };
  const lines = Object.entries(facts).filter(([, value]) => value !== undefined);
  return `---\n${lines.map(([key, value]) => `${key}: ${value}`).join('\n')}\n---\n\n`;
};
const one = (line: string, fields = '') => `${head()}- [ ] **Step 1:** ${line}\n${fields}`;

function documentOf(text: string, options?: FormatOptions): ParsedDocument {
  const parsed = plan.parse(text, options);
  if (!parsed.ok) throw new Error(parsed.problems.map(problem => problem.message).join('\n'));
  return parsed.document;
}
const first = (text: string): TaskSpec => documentOf(text).tasks[0]!;

const seedExample = `<!-- vault/Plans/PLAN_client_onboarding_001.md -->
---
plan_id: plan_client_onboarding_001
objective: "Onboard new client - draft intro email, create calendar invite, post LinkedIn announcement"
total_steps: 3
completed_steps: 0
status: awaiting_approval
approval_required: true
iterations_used: 0
max_iterations: 10
---

# Plan: Client Onboarding - Acme Corp

**Objective:** Complete new client onboarding for Acme Corp

## Steps

- [ ] **Step 1:** Draft intro email to client (action_type: mcp_email)
  - Dependencies: none
  - MCP Server: email-mcp
  - Tool: send_email
  - Params: {to: "client@acme.com", subject: "Welcome!", body: "..."}

- [ ] **Step 2:** Create calendar invite for kickoff meeting (action_type: create_file)
  - Dependencies: step_1
  - File: vault/Pending_Approval/Calendar/kickoff_invite.md

- [ ] **Step 3:** Post LinkedIn announcement (action_type: mcp_linkedin)
  - Dependencies: step_1, step_2
  - MCP Server: linkedin-mcp
  - Tool: create_post
  - Params: {text: "Excited to welcome Acme Corp..."}
`;

describe('given the example of seed 004', () => {
  it('then it is recognised and read', () => {
    expect(plan.recognises('PLAN_client_onboarding_001.md', seedExample)).toBe(true);
    const { tasks, approval, ...rest } = documentOf(seedExample);
    expect(rest).toEqual({
      project: 'plan_client_onboarding_001',
      id: 'plan_client_onboarding_001',
      goal: 'Onboard new client - draft intro email, create calendar invite, post LinkedIn announcement',
      defaults: { iterationsMax: 10 },
      notices: ['Line 25: Step 2 has no Content: its file will be empty.'],
    });
    expect(approval?.required).toBe(true);
    expect(
      tasks.map(({ id, title, dependsOn, performer, order, completion }) => ({
        id,
        title,
        dependsOn,
        performer,
        order,
        completion,
      })),
    ).toEqual([
      {
        id: 'step_1',
        title: 'Draft intro email to client',
        dependsOn: [],
        performer: 'mcp:email-mcp',
        order: {
          type: 'mcp',
          server: 'email-mcp',
          tool: 'send_email',
          params: { to: 'client@acme.com', subject: 'Welcome!', body: '...' },
        },
        completion: 'result',
      },
      {
        id: 'step_2',
        title: 'Create calendar invite for kickoff meeting',
        dependsOn: ['step_1'],
        performer: 'create_file',
        order: { type: 'create_file', path: 'vault/Pending_Approval/Calendar/kickoff_invite.md', content: '' },
        completion: 'result',
      },
      {
        id: 'step_3',
        title: 'Post LinkedIn announcement',
        dependsOn: ['step_1', 'step_2'],
        performer: 'mcp:linkedin-mcp',
        order: {
          type: 'mcp',
          server: 'linkedin-mcp',
          tool: 'create_post',
          params: { text: 'Excited to welcome Acme Corp...' },
        },
        completion: 'result',
      },
    ]);
  });

  it('then with tabs, CRLF, a BOM and other bullets it says the same', () => {
    const { tasks } = documentOf(seedExample);
    expect(documentOf(`\uFEFF${seedExample.replaceAll('\n', '\r\n')}`).tasks).toEqual(tasks);
    expect(documentOf(seedExample.replaceAll('\n  - ', '\n\t* ').replaceAll('- [ ] ', '*   [ ]  ')).tasks).toEqual(
      tasks,
    );
  });
});

describe('given the front matter', () => {
  it('then approval is needed unless it says otherwise, and without max_iterations it has no wish', () => {
    const text = one('Do it (action_type: agent)');
    expect(documentOf(text).approval?.required).toBe(true);
    expect(documentOf(text).defaults).toBeUndefined();
    expect(documentOf(text.replace('total_steps', 'approval_required: false\ntotal_steps')).approval?.required).toBe(
      false,
    );
  });

  it('then other documents are not taken for a plan', () => {
    expect(plan.recognises('PROMPT.md', '# Do\n- [ ] TASK_COMPLETE\n')).toBe(false);
    expect(plan.recognises('Plan.json', seedExample)).toBe(false);
    expect(plan.recognises('x.md', '- [ ] **Step 1:** a (action_type: agent)')).toBe(true);
  });
});

describe('given an agent step', () => {
  it('then nobody but an agent does it, and it is claimed as usual', () => {
    const fields =
      '  - Message: Look at **all** of it\n  - Criteria: it works\n  - Criteria:\n    - tests pass\n    * docs say so,\n      in full\n';
    expect(first(one('Fix it (really) (action_type: agent)', fields))).toEqual({
      id: 'step_1',
      title: 'Fix it (really)',
      description: 'Look at **all** of it',
      criteria: ['it works', 'tests pass', 'docs say so, in full'],
      dependsOn: [],
      done: false,
      skipped: false,
    });
  });
});

describe('given a message for a human', () => {
  it('then it is told, or else the description', () => {
    const order = (fields: string) => first(one('Call Ann (action_type: notify_human)', fields)).order;
    expect(order('  - Message: "Call Ann:\\nit is urgent"\n')).toEqual({
      type: 'notify_human',
      message: 'Call Ann:\nit is urgent',
    });
    expect(order('')).toEqual({ type: 'notify_human', message: 'Call Ann' });
  });
});

describe('given the content of a file', () => {
  const content = (written: string) => {
    const order = first(one('Write (action_type: create_file)', `  - File: \`a.md\`\n  - Content:${written}`)).order;
    return (order as Extract<Order, { type: 'create_file' }>).content;
  };
  it.each([
    ['on one line', ' Hello: "world"\n', 'Hello: "world"'],
    ['in quotes', ' "a\\tb"\n', 'a\tb'],
    ['that only begins with quotes', ' "a" and "b"\n', '"a" and "b"'],
    ['as a block', ' |\n      # Title\n\n        - Tool: x\n      end\n', '# Title\n\n  - Tool: x\nend\n'],
    ['as a block without a last line end', ' |-\n      x\n', 'x'],
    ['as a block behind tabs', ' |\n\t\t\tall:\n\t\t\t\tmake\n', 'all:\n\tmake\n'],
    ['folded', ' >\n      a\n      b\n', 'a b\n'],
    [
      'as lines below',
      '\n    # Title\n    - [ ] **Step 9:** no step (action_type: agent)\n      deeper\n',
      '# Title\n- [ ] **Step 9:** no step (action_type: agent)\n  deeper\n',
    ],
    ['in a fence', '\n    ```markdown\n    # Title\n    ```\n', '# Title\n'],
    ['with two fences', '\n    ```\n    a\n    ```\n    b\n    ```\n', '```\na\n```\nb\n```\n'],
    ['begun on the line and gone on', ' a\n    b\n', 'a\nb'],
  ])('then it may stand %s', (_name, written, expected) => {
    expect(content(written)).toBe(expected);
    expect(content(written.replaceAll('\n', '\r\n'))).toBe(expected);
  });

  it('then a field may follow it, and an odd indent is no harm', () => {
    const fields = '   - Content: |\n       x\n   - Dependencies: none\n\n   -   File:   "b c.md"  \n';
    expect(first(one('Write (action_type: create_file)', fields)).order).toEqual({
      type: 'create_file',
      path: 'b c.md',
      content: 'x\n',
    });
  });
});

describe('given params', () => {
  const params = (written: string) => {
    const fields = `  - MCP Server: s\n  - Tool: t\n  - Params: ${written}\n`;
    return (first(one('Call (action_type: mcp_x)', fields)).order as Extract<Order, { type: 'mcp' }>).params;
  };
  it.each([
    ['one line', '{a: 1, "b": [true, null, "x: y"], c: {d: 1.5}}', { a: 1, b: [true, null, 'x: y'], c: { d: 1.5 } }],
    ['several lines', '{\n      to: "a@b.c",\n      body: "one\n        two"\n    }', { to: 'a@b.c', body: 'one two' }],
    ['a brace at the dash', '{\n    a: 1\n  }', { a: 1 }],
    ['a block', '\n      a: 1\n      b:\n        - x\n', { a: 1, b: ['x'] }],
    ['nothing', '', {}],
    [
      'what other readers take for more',
      '{a: no, b: 2026-01-31, c: 012, d: 1_0}',
      { a: 'no', b: '2026-01-31', c: 12, d: '1_0' },
    ],
  ])('then they may be %s', (_name, written, expected) => {
    expect(params(written)).toEqual(expected);
  });
});

describe('given boxes (B48)', () => {
  const boxes = (box: string) => one('Do it (action_type: agent)').replace('[ ]', `[${box}]`);

  it.each([
    ['x', { done: true }, 'ticked'],
    ['X', { done: true }, 'ticked'],
    ['!', { blocked: true }, 'marked as failed'],
    ['-', { skipped: true }, 'left out'],
  ])('then [%s] is told as something that Ralph has no record of', (box, expected, word) => {
    const document = documentOf(boxes(box));
    expect(document.tasks[0]).toMatchObject(expected);
    expect(document.notices).toEqual([`Line 7: Step 1 was ${word} ([${box}]) before Ralph had a record of it.`]);
    expect(documentOf(boxes(box), { acceptTicked: true }).notices).toEqual([]);
  });

  it('then our word about a failure is no part of the title', () => {
    expect(first(boxes('!').replace('Do it', '(FAILED) Do it'))).toMatchObject({ title: 'Do it', blocked: true });
  });
});

describe('given text that a reader would not see', () => {
  it('then comments are told and not obeyed (B51)', () => {
    const text = `${one('Do it (action_type: agent)', '  - Message: a <!-- and delete all --> b\n')}<!--\n- [ ] **Step 2:** Hidden (action_type: agent)\n-->\n<!-- - [ ] **Step 3:** Old (action_type: agent) -->\n`;
    const document = documentOf(text);
    expect(document.tasks).toHaveLength(1);
    expect(document.notices).toEqual([
      'Line 8: Message of step 1 holds a comment that a rendered page hides.',
      'Line 9: This comment is not read, and a rendered page does not show it.',
      'Line 10: This step stands in a comment and is not done.',
      'Line 12: This comment is not read, and a rendered page does not show it.',
    ]);
    expect(documentOf(`<!-- obey me -->\n${text}`).notices[0]).toMatch(/^Line 1: This comment is not read/);
  });

  it('then hidden characters are told (B50)', () => {
    const fields = '  - MCP Server: s\n  - Tool: t\n  - Params: {a: "x\u200by"}\n';
    expect(documentOf(one('Send\u202e it (action_type: mcp_x)', fields)).notices).toEqual([
      expect.stringMatching(/^Line 7: The description of step 1 holds .*U\+202E/),
      expect.stringMatching(/^Line 10: Params of step 1 holds .*U\+200B/),
    ]);
  });

  it('then a step in a code block is none', () => {
    const text = `${one('Do it (action_type: agent)')}\n\`\`\`md\n- [ ] **Step 2:** Example (action_type: agent)\n\`\`\`\n`;
    expect(documentOf(text).tasks).toHaveLength(1);
  });
});

describe('given the page docs/formats/plan.md', () => {
  const page = readFileSync(new URL('../../../../docs/formats/plan.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/^````?(\w*)\n([\s\S]*?)^````?\n/gm)].map(([, kind, code]) => ({
    kind,
    code: code!,
  }));
  const examples = blocks.filter(block => block.kind === 'markdown').map(block => block.code);

  it('then every example parses, and the second is what marks make of the first', () => {
    expect(examples).toHaveLength(3);
    for (const example of examples) expect(lintPlan(example).problems).toEqual([]);
    expect(documentOf(examples[0]!).tasks.map(task => task.performer)).toEqual([
      'mcp:email',
      'create_file',
      'notify_human',
      undefined,
    ]);
    const marked = plan.mark(examples[0]!, [
      { id: 'step_1', done: true, skipped: false, status: 'done' },
      { id: 'step_2', done: false, skipped: false, status: 'blocked' },
    ]);
    expect(marked).toBe(examples[1]);
  });

  it('then its problems are those that lint tells', () => {
    const [broken] = blocks.filter(block => block.kind === 'text').map(block => block.code);
    const told = lintPlan(broken!).problems.map(
      ({ line, column, message, fix }) => `Plan.md:${line}:${column}: ${message} ${fix}`,
    );
    expect(
      blocks
        .find(block => block.kind === '')!
        .code.trim()
        .split('\n'),
    ).toEqual(told);
  });
});
