// Proves that a plan with faults is refused with all of them at once, each with its place, before anything is done.
import { describe, expect, it } from 'vitest';
import { lintPlan, plan } from '../../../../src/modes/plan/document/plan.ts';

const front = '---\nplan_id: p1\nobjective: Try it\ntotal_steps: 1\n---\n';
const one = (line: string, fields = '') => `${front}- [ ] **Step 1:** ${line}\n${fields}`;
const good = one('Do it (action_type: agent)');
const messages = (text: string) => lintPlan(text).problems.map(problem => problem.message);
const call = (params: string, changes = '  - MCP Server: s\n  - Tool: t\n') =>
  one('Call (action_type: mcp_x)', `${changes}  - Params: ${params}\n`);

describe('given a plan with many faults (B44)', () => {
  const text = `---
plan_id: ../etc
objective: ""
total_steps: 3
completed_steps: 2
max_iterations: 0
approval_required: "yes"
---
- [ ] **Step 2:** Out of order (action_type: agent)
  - Dependencies: none, step_1
- [ ] **Step 1:** Second (action_type: agent)
  - Dependencies: step_7
- [ ] **Step 1:** Again (action_type: create_file)
- [ ] **Step 3:** No server (action_type: mcp_x)
  - Tool: t
- [ ] **Step 4:** No type
- Tool: lost
`;
  const told = [
    [2, 'plan_id is not usable as the name of a file: "../etc".'],
    [3, 'objective is empty.'],
    [4, 'total_steps is 3, but the plan has 5 steps.'],
    [6, 'max_iterations must be a whole number from 1 to 1000000, not 0.'],
    [7, 'approval_required must be true or false, not "yes".'],
    [9, 'Step 2 stands where step 1 should.'],
    [10, 'Dependencies of step 2 says none and more than that.'],
    [11, 'Step 1 stands behind step 2.'],
    [12, 'Dependencies of step 1 names "step_7", which no step has as its id.'],
    [13, 'Step 1 has no File.'],
    [13, 'Step 1 stands twice.'],
    [14, 'Step 3 has no MCP Server.'],
    [16, 'Step 4 names no action.'],
    [17, 'Tool stands outside of a step.'],
  ];

  it('then lint tells all of them, in the order of the text, and the warnings too', () => {
    const { problems, notices } = lintPlan(text);
    expect(problems.map(({ line, message }) => [line, message])).toEqual(told);
    for (const { fix, column } of problems) {
      expect(fix).toMatch(/\S\.$/);
      expect(column).toBeGreaterThan(0);
    }
    expect(notices).toContain('Line 5: completed_steps is 2, but 0 boxes are ticked.');
  });

  it('then it does not parse, for the same reasons', () => {
    expect(plan.parse(text)).toEqual({ ok: false, problems: lintPlan(text).problems });
  });

  it('then more than two hundred are counted', () => {
    const { problems } = lintPlan(front + '- [ ] **Step 0:** x (action_type: )\n'.repeat(300));
    expect(problems).toHaveLength(200);
    expect(problems.at(-1)!.message).toMatch(/^\d+ more problems are not listed\.$/);
  });

  it('then a good plan has none', () => {
    expect(lintPlan(good)).toEqual({ problems: [], notices: [] });
  });
});

describe('given dependencies (B35)', () => {
  const steps = (...dependencies: readonly string[]) =>
    front.replace('1\n---', `${dependencies.length}\n---`) +
    dependencies
      .map((ids, n) => `- [ ] **Step ${n + 1}:** x (action_type: agent)\n  - Dependencies: ${ids}\n`)
      .join('');

  it('then circles and the step itself are refused, with the place', () => {
    expect(lintPlan(steps('step_2', 'step_1', 'step_3')).problems).toMatchObject([
      { line: 7, message: 'These 2 steps wait for each other: step_1 -> step_2 -> step_1.' },
      { line: 11, message: 'Dependencies of step 3 names "step_3", the step itself.' },
    ]);
  });

  it('then they may be written as people do, forward too, and once is enough', () => {
    const parsed = plan.parse(steps('Step 2, step-3, step_03', '', '[]', 'NONE'));
    expect(parsed.ok && parsed.document.tasks.map(task => task.dependsOn)).toEqual([['step_2', 'step_3'], [], [], []]);
  });

  it('then what is no step is refused', () => {
    expect(messages(steps('step_1a', '1,', 'nothing'))).toEqual([
      'Dependencies of step 1 names "step_1a".',
      'Dependencies of step 2 names "1".',
      'Dependencies of step 2 has a comma too many.',
      'Dependencies of step 3 names "nothing".',
    ]);
  });

  it('then a chain of 5,000 steps is read (B36)', () => {
    const chain = Array.from({ length: 5000 }, (_, n) => (n === 0 ? 'none' : `step_${n}`));
    expect(lintPlan(steps(...chain)).problems).toEqual([]);
  });
});

describe('given an action', () => {
  it.each(['mcp_../../x', 'mcp_', 'mcp_X', 'shell', 'create_file; rm', `mcp_${'x'.repeat(100)}`])(
    'then the type %s is not on the list (B45)',
    type => {
      const [problem, ...others] = lintPlan(one(`x (action_type: ${type})`)).problems;
      expect(others).toEqual([]);
      expect(problem!.message).toMatch(/^Step 1 has an action_type that is not known: "/);
    },
  );

  it.each(['x (action_type: )', 'x', 'x (action_type: agent) and more', 'x (action_type agent)'])(
    'then %j names none',
    line => {
      expect(messages(one(line))[0]).toMatch(/names no action|not known: ""/);
    },
  );

  it('then what it cannot do without is asked for', () => {
    expect(messages(one('x (action_type: mcp_x)'))).toEqual(['Step 1 has no MCP Server.', 'Step 1 has no Tool.']);
    expect(messages(one('x (action_type: create_file)'))).toEqual(['Step 1 has no File.']);
    expect(messages(one('(action_type: agent)'))).toEqual(['Step 1 has no description.']);
  });

  it.each([
    ['../../../../etc/evil', 'holds ..'],
    ['~/notes.md', 'begins with ~, which only a shell understands'],
    ['C:\\\\notes.md', 'is a Windows or network path'],
    ['src/', 'names a folder, not a file'],
    ['a/.GIT/config', 'leads into the .git folder'],
    ['Approved/Plans/next.md', 'leads into the folder of approved plans, which people fill'],
    ['.claude/settings.json', 'leads into .claude, which says how agents work'],
  ])('then a file that could not be made is refused before anybody approves it: %s', (path, why) => {
    const [message = ''] = messages(one('x (action_type: create_file)', `  - File: ${path}\n  - Content: y`));
    expect(message).toMatch(`File of step 1 ${why}`);
  });

  it('then a field that says nothing usable is refused', () => {
    expect(messages(call('{}', '  - MCP Server: ../s\n  - Tool: a b\n'))).toEqual([
      'MCP Server of step 1 is "../s".',
      'Tool of step 1 is "a b".',
    ]);
    expect(messages(one('x (action_type: create_file)', '  - File:\n  - Content:\n'))).toEqual([
      'File of step 1 is empty: "".',
      'Content of step 1 is empty.',
    ]);
    expect(messages(one('x (action_type: create_file)', '  - File: a\u0007b\n'))).toEqual([
      'File of step 1 holds a control or invisible character: "a\\u0007b".',
    ]);
    expect(messages(one('x (action_type: notify_human)', '  - Message: |\n'))).toEqual([
      'This block of text is empty.',
    ]);
  });

  it('then a slip of the pen is not passed over in silence', () => {
    expect(messages(one('x (action_type: agent)', '  - Depends on: step_1\n'))).toEqual([
      'Step 1 has a field that is nearly Dependencies.',
    ]);
    expect(messages(one('x (action_type: agent)', '  - Mesage: hi\n'))).toEqual([
      'Step 1 has a field that is nearly Message.',
    ]);
    expect(messages(one('x (action_type: agent)', '  - Message: a\n  - message: b\n'))).toEqual([
      'Message stands twice in step 1.',
    ]);
  });

  it('then notes of your own and fields of other actions are warnings', () => {
    const { problems, notices } = lintPlan(one('x (action_type: agent)', '  - Owner: Ann\n  - Tool: t\n'));
    expect(problems).toEqual([]);
    expect(notices).toEqual([
      'Line 7: This line of step 1 is not read.',
      'Line 8: Tool of step 1 is not used by its action.',
    ]);
  });
});

describe('given lines that only look like steps', () => {
  it.each([
    '- [] **Step 2:** x (action_type: agent)',
    '- [ ] Step 2: x',
    '1. **Step 2:** x (action_type: agent)',
    '### Step 2 (action_type: agent)',
    '- [?] **step 2:** x',
  ])('then %j is refused', line => {
    expect(messages(`${good}${line}\n`)).toEqual(['This looks like a step, but is not written as one.']);
  });

  it('then a step inside a step is refused', () => {
    expect(messages(`${good}  - [ ] **Step 2:** x (action_type: agent)\n`)).toEqual([
      'A step stands inside another step.',
    ]);
  });

  it('then prose, other boxes and spans of code are no steps', () => {
    expect(lintPlan(`${good}\nStep 2 is easy: \`(action_type: agent)\`.\n- [ ] buy milk\n`)).toEqual({
      problems: [],
      notices: [],
    });
  });

  it('then a code block or a comment that is never closed is refused', () => {
    expect(messages(`${good}\`\`\`\n`)).toEqual(['This code block is never closed.']);
    expect(messages(`${good}<!-- x\n`)).toEqual(['This comment is never closed.']);
  });
});

describe('given params that mean harm (B47)', () => {
  it.each([
    ['a function', '{a: !!js/function "x"}', /tag .* is not allowed/],
    ['a date by tag', '{a: !!timestamp 2026-01-01}', /tag .* is not allowed/],
    ['bytes', '{a: !!binary aGk=}', /tag .* is not allowed/],
    ['a prototype', '{__proto__: {a: 1}}', 'The key "__proto__" is not allowed.'],
    ['a constructor, deeper', '{a: [{constructor: 1}]}', 'The key "constructor" is not allowed.'],
    ['a key twice', '{a: 1, a: 2}', 'The key "a" stands twice.'],
    ['infinity', '{a: .inf}', /no plain value/],
    ['too many digits', '{a: 12345678901234567890}', 'Params of step 1 holds a number with more digits than are kept.'],
    ['no names', '[1, 2]', 'Params of step 1 must be names with values.'],
    ['a word', 'none', 'Params of step 1 must be names with values.'],
    ['an open brace', '{a: 1', /^This is not YAML/],
    ['21 levels', `{a: ${'['.repeat(20)}${']'.repeat(20)}}`, 'Params of step 1 is nested deeper than 20 levels.'],
    ['30,000 levels', `{a: ${'['.repeat(30_000)}${']'.repeat(30_000)}}`, /nested deeper than 20/],
    ['10,000 levels of names', `{a: ${'{a: '.repeat(10_000)}`, /nested deeper than 20/],
    ['30,000 dashes', `\n      ${'- '.repeat(30_000)}`, /nested deeper than 20/],
    [
      '21 levels line by line',
      Array.from({ length: 22 }, (_, n) => `\n${' '.repeat(6 + n)}a:`).join(''),
      /nested deeper/,
    ],
    ['5 MB', `{a: "${'x'.repeat(5_000_000)}"}`, 'Params of step 1 is larger than 64 kB.'],
    ['much by aliases', `{a: &a "${'x'.repeat(9000)}", b: [${'*a, '.repeat(9)}]}`, /larger than 64 kB once/],
    ['a bomb', `{a: &a [1,1], b: &b [${'*a,'.repeat(50)}], c: [${'*b,'.repeat(50)}]}`, /more than 100 aliases/],
  ])('then %s is refused', (_name, params, message) => {
    const told = messages(call(params));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(message);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it('then 20 levels are fine', () => {
    expect(messages(call(`{a: ${'['.repeat(19)}${']'.repeat(19)}}`))).toEqual([]);
    expect(messages(call(`{a: "${'[ - '.repeat(99)}", b: '${'{'.repeat(99)}', c: "\\"${'['.repeat(99)}"}`))).toEqual(
      [],
    );
  });

  it('then the place is that of the fault', () => {
    expect(lintPlan(call('{a: 1,\n      b: !x 2}')).problems).toMatchObject([{ line: 10, column: 13 }]);
  });
});

describe('given a front matter', () => {
  const withFacts = (...facts: readonly string[]) =>
    good.replace('total_steps: 1\n', `total_steps: 1\n${facts.join('\n')}\n`);

  it('then none, an unclosed one and a broken one are told together with the steps', () => {
    const broken = '- [ ] **Step 1:** x (action_type: no)\n';
    expect(messages(broken)[0]).toBe('The plan has no front matter.');
    expect(messages(`---\nplan_id: a\n${broken}`)).toEqual([
      'The front matter is never closed.',
      expect.stringMatching(/not known: "no"/),
    ]);
    const twice = `<!-- a -->\n---\nplan_id: a\nplan_id: b\n---\n${broken}`;
    expect(lintPlan(twice).problems).toMatchObject([
      { line: 4, message: 'The key "plan_id" stands twice.' },
      { line: 6 },
    ]);
  });

  it('then an empty document is told', () => {
    expect(messages('')).toEqual(['The plan has no front matter.', 'The plan has no steps.']);
  });

  it.each(['a/b', '..', 'a..b', 'CON', 'nul.md', '.hidden', 'a b', 'x'.repeat(65), 'a.', '-a'])(
    'then %j is no plan_id (B13)',
    id => {
      expect(messages(good.replace('p1', JSON.stringify(id)))).toEqual([
        expect.stringMatching(/^plan_id is not usable/),
      ]);
    },
  );

  it.each([
    ['plan_id as number', 'plan_id: 7', /^plan_id must be text, not 7/],
    ['total_steps as text', 'total_steps: "1"', /^total_steps must be a whole number/],
    ['a list as status', 'status: [a]', /^status must be a word/],
    ['half an iteration', 'max_iterations: 1.5', /^max_iterations must be/],
    ['an anchor where we write', 'status: &a x', /^status must be a plain value/],
  ])('then %s is refused', (_name, line, message) => {
    const key = line.split(':')[0]!;
    const text = good.includes(`\n${key}:`) ? good.replace(new RegExp(`\n${key}: .*`), `\n${line}`) : withFacts(line);
    expect(messages(text)).toEqual([expect.stringMatching(message)]);
  });

  it('then what does not fit together is a warning', () => {
    const text = withFacts(
      'completed_steps: 1',
      'status: draft',
      'iterations_used: 4',
      'max_iterations: 3',
      'planId: x',
    );
    expect(lintPlan(text)).toEqual({
      problems: [],
      notices: [
        'Line 5: completed_steps is 1, but 0 boxes are ticked.',
        'Line 6: status is "draft", which Ralph does not know.',
        'Line 7: iterations_used is 4, more than max_iterations.',
        'Line 9: The key "planId" is ignored: write plan_id.',
      ],
    });
  });

  it('then a plan beyond 16 MB is refused', () => {
    expect(messages(good + ' '.repeat(16 * 1024 * 1024))).toEqual(['The plan is larger than 16 MB.']);
  });
});
