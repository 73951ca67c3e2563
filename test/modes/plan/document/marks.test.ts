// Proves that marking a plan changes boxes and counts and not one other byte, and that an approval covers all the rest.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskMark, TaskSpec, TaskStatus } from '../../../../src/core/task.ts';

import { setPlanFacts } from '../../../../src/modes/plan/document/marks.ts';
import { plan } from '../../../../src/modes/plan/document/plan.ts';
import { describeLaws, dressed } from '../../../documents/formats/properties.ts';

// Plans as odd as people and tools write them: bullets, tabs, spaces, comments, decoys in code blocks and contents.

const actions = fc.constantFrom(
  '(action_type: agent)\nI- Message: - [ ] **Step 1:** not a step\n',
  '(action_type: create_file)\nI- File: a.md\nI- Content: |\nI    - [ ] **Step 2:** (FAILED) text\n\nI    status: x\n',
  '(action_type: mcp_x)\nI- MCP Server: s\nI- Tool: t\nI- Params: {a: "[ ]",\nI   b: 1}\n',
  '(action_type:notify_human)  \n',
);
const indents = fc.constantFrom('  ', '    ', '\t', '   ');
const gaps = fc.constantFrom(
  '',
  '\n',
  '\n\nSome prose, [ ] and (FAILED).\n\n',
  '```\n- [ ] **Step 1:** x (action_type: agent)\n```\n',
);
const step = (number: number) =>
  fc
    .record({
      lead: fc.constantFrom('- ', '* ', '+  ', '-\t'),
      box: fc.constantFrom(' ', 'x', 'X', '!', '-'),
      after: fc.constantFrom(' ', '  ', '\t'),
      bold: fc.constantFrom(`**Step ${number}:**`, `**Step  ${number} :**`),
      failed: fc.constantFrom('', '', ' (FAILED)', '(FAILED)', '  (FAILED) (FAILED)'),
      title: fc.constantFrom(' Do it ', ' say (FAILED) ', '\tDo [ ] it é🚀 '),
      action: actions,
      indent: indents,
      gap: gaps,
    })
    .map(
      ({ lead, box, after, bold, failed, title, action, indent, gap }) =>
        `${lead}[${box}]${after}${bold}${failed}${title}${action.replaceAll(/^I/gm, indent)}${gap}`,
    );
const facts = fc
  .subarray([
    'completed_steps: 0',
    'completed_steps : 3 # ours',
    'status: "awaiting_approval"',
    'status: executing   # by Ann',
    'iterations_used: 2',
    'tags: [a, b]',
    '# a comment',
  ])
  .map(lines =>
    lines.filter((line, n) => lines.findIndex(other => other.split(/[ :]/)[0] === line.split(/[ :]/)[0]) === n),
  )
  .chain(lines =>
    fc.shuffledSubarray(['plan_id: p-1', 'objective: "a: status: x"', ...lines], { minLength: lines.length + 2 }),
  );

const plans = dressed(
  fc
    .record({
      comment: fc.constantFrom('', '<!-- vault/Plans/p.md -->\n', '\n<!-- a b -->\n\n'),
      facts,
      gap: gaps,
      steps: fc
        .integer({ min: 1, max: 4 })
        .chain(count => fc.tuple(...Array.from({ length: count }, (_, n) => step(n + 1)))),
    })
    .map(({ comment, facts: lines, gap, steps }) => `${comment}---\n${lines.join('\n')}\n---\n${gap}${steps.join('')}`),
);

const statuses: readonly TaskStatus[] = ['pending', 'active', 'done', 'blocked', 'skipped'];
const says = fc
  .constantFrom(...statuses)
  .map(status => ({ done: status === 'done', skipped: status === 'skipped', status }));

function apply({ blocked: _blocked, ...task }: TaskSpec, { status }: TaskMark): TaskSpec {
  return {
    ...task,
    done: status === 'done',
    skipped: status === 'skipped',
    ...(status === 'blocked' ? { blocked: true } : {}),
  };
}

describeLaws('Plan.md', {
  format: plan,
  texts: plans,
  says,
  apply,
  bare: text =>
    text
      .replaceAll(/^([-*+][ \t]+\[)[ xX!-](\][ \t]+\*\*Step[ \t]+\d+[ \t]*:\*\*)(?:[ \t]*\(FAILED\))*/gm, '$1$2')
      .replace(/^completed_steps: \d+\r?\n/m, '')
      .replace(/^(completed_steps : )\d+/m, '$1'),
});

const substance = (text: string): string => {
  const parsed = plan.parse(text);
  if (!parsed.ok) throw new Error(`${parsed.problems[0]!.message}\n${text}`);
  return parsed.document.approval!.substance;
};
const written = fc.record(
  {
    status: fc.constantFrom('awaiting_approval', 'approved', 'executing', 'completed', 'blocked'),
    completed_steps: fc.nat(9),
    iterations_used: fc.nat(99),
  },
  { requiredKeys: [] },
);
const runs = { numRuns: Number(process.env['PROVE_RUNS'] ?? 60), seed: 5 };

describe('for any plan, what is approved', () => {
  it('is the same after every mark and every fact that Ralph writes (F68)', () => {
    const property = fc.property(
      plans,
      fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), says)),
      written,
      (text, marks, change) => {
        const marked = plan.mark(
          text,
          marks.map(([n, mark]) => ({ id: `step_${n}`, ...mark })),
        );
        const changed = setPlanFacts(marked, change);
        expect(substance(changed)).toBe(substance(text));
        expect(setPlanFacts(changed, change)).toBe(changed);
      },
    );
    fc.assert(property, runs);
  });

  it('is another after any other edit, of a single character too (F68)', () => {
    const property = fc.property(plans, fc.nat(), fc.constantFrom('y', ' ', '', '7'), (text, where, character) => {
      const at = where % text.length;
      const edited = text.slice(0, at) + character + text.slice(at + 1);
      const parsed = plan.parse(edited);
      if (edited === text || !parsed.ok || isOurs(text, at)) return;
      expect(parsed.document.approval!.substance).not.toBe(substance(text));
    });
    fc.assert(property, runs);
  });
});

/** Is the character at this place one that Ralph itself writes: a box, the word, or a line of its own keys? */
function isOurs(text: string, at: number): boolean {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const line = text
    .slice(start, text.indexOf('\n', at) === -1 ? undefined : text.indexOf('\n', at))
    .replace(/^\uFEFF/, '');
  if (/^(?:completed_steps|status|iterations_used)[ :]/.test(line)) return true;
  const ours = /^[-*+][ \t]+\[.\][ \t]+\*\*Step[ \t]+\d+[ \t]*:\*\*(?:[ \t]*\(FAILED\))*/.exec(line)?.[0];
  const box = line.indexOf('[') + 1;
  return ours !== undefined && (at - start === box || (ours.includes('(FAILED)') && at - start >= ours.indexOf(':**')));
}

describe('given a plan', () => {
  const text =
    '---\nplan_id: p\nobjective: o\ntotal_steps: 2\n---\n- [ ] **Step 1:** a (action_type: agent)\n- [ ] **Step 2:** b (action_type: agent)\n';
  const mark = (source: string, status: TaskStatus, id = 'step_1') =>
    plan.mark(source, [{ id, done: status === 'done', skipped: status === 'skipped', status }]);

  it('then a step fails, is tried again and is done, and the bytes come back', () => {
    const failed = mark(text, 'blocked');
    expect(failed).toContain('- [!] **Step 1:** (FAILED) a (action_type: agent)\n');
    expect(failed).toContain('total_steps: 2\ncompleted_steps: 0\n---');
    const again = mark(failed, 'active');
    expect(again).toBe(text.replace('total_steps: 2\n', 'total_steps: 2\ncompleted_steps: 0\n'));
    expect(mark(again, 'done')).toBe(again.replace('[ ] **Step 1', '[x] **Step 1').replace('_steps: 0', '_steps: 1'));
  });

  it('then marks that say what stands there, and ids that no step has, change nothing', () => {
    expect(mark(text, 'pending')).toBe(text);
    expect(mark(text, 'done', 'step_9')).toBe(text);
    expect(plan.mark(text, [])).toBe(text);
    const capital = text.replace('[ ] **Step 1', '[X] **Step 1');
    expect(mark(capital, 'done')).toBe(capital);
    const failed = text.replace('[ ] **Step 1:**', '[!] **Step 1:**  (FAILED)');
    expect(mark(failed, 'blocked')).toBe(failed);
  });

  it('then facts are set where they stand, or added, and a text without a front matter stays', () => {
    const first = setPlanFacts(text, { status: 'executing', completed_steps: 1, iterations_used: 3 });
    expect(first).toContain('total_steps: 2\ncompleted_steps: 1\nstatus: executing\niterations_used: 3\n---\n');
    expect(setPlanFacts(first, { status: 'completed' })).toBe(first.replace('executing', 'completed'));
    expect(setPlanFacts('# no plan\n', { status: 'completed' })).toBe('# no plan\n');
  });

  it('then words that look like ours inside another value are part of what is approved', () => {
    const tricky = text.replace('objective: o', 'objective: |\n  o\n  status: ralph-gone\nstatus: approved');
    expect(substance(tricky)).not.toBe(substance(tricky.replace('  status: ralph-gone\n', '')));
  });
});
