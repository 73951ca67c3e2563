// Proves the record of a checkpoint: the seed's fields, whose word each list is, its bounds, and that only its hash makes it one.
import { describe, expect, it } from 'vitest';
import type { State } from '../../src/core/state.ts';
import { makeRedactor, redactDeep } from '../../src/secrets/redactor.ts';
import {
  type CheckpointFacts,
  type CheckpointRecord,
  checkpointRecord,
  recordText,
  verifyRecord,
} from '../../src/views/checkpoint-record.ts';
import { claims, Story, says, spec, t0, usd } from '../core/given.ts';

const hash = 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c';
const saved = {
  ref: 'refs/ralph/loop-0001/4',
  commit: '0123456789012345678901234567890123456789',
  tree: '9876543210987654321098765432109876543210',
  skipped: [{ path: 'big.iso', why: 'larger than 10 MB' }],
};

const facts = (part: Partial<CheckpointFacts> = {}): CheckpointFacts => ({
  checkpoint: '01890a5d-ac96-774b-bcce-b302099a8057',
  number: 4,
  label: 'after iteration 1',
  at: t0 + 5_000,
  iteration: 1,
  task: 'A',
  saved,
  anchor: { sequence: 17, hash },
  changes: [
    { path: 'src/form.ts', how: 'added' },
    { path: 'README.md', how: 'changed' },
  ],
  toolCalls: 12,
  lastChecks: [
    { check: 'npm test', passed: false, iteration: 1 },
    { check: 'npm run lint', passed: true, iteration: 1 },
  ],
  ...part,
});

const told = {
  phase: 'testing',
  completed: ['the form'],
  pending: ['the mail'],
  blocked: [{ item: 'payments', reason: 'no key' }],
  decisions: ['SQLite'],
  assumptions: ['one currency'],
  constraints: ['no new package'],
  obstacles: [{ message: 'slow server' }],
  next: 'Write the mail.',
};

const after = (report: object | undefined, story = new Story({ checks: ['npm test'] })): Story => {
  const usage = usd(1.25, { inputTokens: 5, outputTokens: 7, cacheReadTokens: 11, cacheWriteTokens: 13 });
  const words = report === undefined ? 'hm' : `<report>${JSON.stringify(report)}</report>`;
  story.iteration('A', says(words, { usage }));
  return story;
};

describe('given an agent that reported', () => {
  const { state } = after(told);
  const record = checkpointRecord(state, facts());

  it('then the record holds every part of the seed’s schema', () => {
    expect(record).toEqual({
      version: 1,
      metadata: {
        checkpoint_id: '01890a5d-ac96-774b-bcce-b302099a8057',
        number: 4,
        label: 'after iteration 1',
        loop_id: 'loop-0001',
        loop_name: 'shop',
        project_id: 'PILOT',
        task_id: 'H.8',
        task: 'A',
        agent_id: 'ralph-loop-loop-000-iter-1',
        performer: 'agent',
        iteration: 1,
        phase: 'testing',
        created_at: '2027-01-15T08:00:05.000Z',
      },
      execution_state: {
        phase: 'testing',
        completed_items: ['the form'],
        pending_items: ['the mail'],
        blocked_items: [{ item: 'payments', reason: 'no key' }],
        sources: {
          phase: 'reported',
          completed_items: 'reported',
          pending_items: 'reported',
          blocked_items: 'reported',
        },
        files_changed: facts().changes,
        files_changed_count: 2,
      },
      context_summary: {
        written_by: 'agent',
        key_decisions: ['SQLite'],
        assumptions: ['one currency'],
        constraints: ['no new package'],
        obstacles: ['slow server'],
      },
      metrics: {
        input_tokens: 5,
        output_tokens: 7,
        cache_read_tokens: 11,
        cache_write_tokens: 13,
        cost_usd: 1.25,
        cost_estimated: false,
        tool_calls: 12,
        tests: facts().lastChecks,
        iterations: 1,
      },
      recovery: {
        rollback_instructions: [
          'To see what would change: ralph checkpoint restore 4 shop --dry-run',
          'To go back to this checkpoint: ralph checkpoint restore 4 shop',
          'To take the last restore back: ralph undo shop',
        ],
        continuation_prompt: expect.stringContaining('## Handoff from iteration 1'),
      },
      git: saved,
      anchor: { sequence: 17, hash },
    } satisfies CheckpointRecord);
  });

  it('then the continuation prompt names this checkpoint and quotes the agent', () => {
    const text = record.recovery.continuation_prompt;
    expect(text).toContain(`**Checkpoint:** ${record.metadata.checkpoint_id}`);
    expect(text).toContain('### Next steps\n\n> Write the mail.');
  });

  it('when the checkpoint is about another task, then the report is not taken for its work', () => {
    const other = checkpointRecord(state, facts({ iteration: 2, task: 'B', performer: 'codex' }));
    expect(other.metadata).toMatchObject({
      task: 'B',
      agent_id: 'ralph-loop-loop-000-iter-2',
      performer: 'codex',
      phase: 'implementing',
    });
    expect(other.execution_state.sources.completed_items).toBe('derived');
    expect(other.context_summary.key_decisions).toEqual([]);
    expect(other.recovery.continuation_prompt).toContain('## Handoff from iteration 2');
    expect(other.recovery.continuation_prompt).not.toContain('the form');
  });

  it('when the checkpoint is made by hand, then the newest report stands in it', () => {
    const { task: _none, ...byHand } = facts({ iteration: 2 });
    expect(checkpointRecord(state, byHand).execution_state.completed_items).toEqual(['the form']);
    expect(checkpointRecord(state, byHand).metadata).toMatchObject({ task: '', agent_id: '' });
  });
});

describe('given an agent that did not report', () => {
  it('then its items come from the tasks, the diff and the checks, and each list says so', () => {
    const { execution_state: execution } = checkpointRecord(after(undefined).state, facts());
    expect(execution).toMatchObject({
      phase: 'implementing',
      completed_items: [
        'check "npm run lint" passed (iteration 1)',
        '2 files changed: src/form.ts (added), README.md (changed)',
      ],
      pending_items: ['check "npm test" failed (iteration 1)', 'A: Title of A', 'B: Title of B'],
      blocked_items: [],
    });
    expect(new Set(Object.values(execution.sources))).toEqual(new Set(['derived']));
  });

  it('when it left one list empty, then only that one is derived', () => {
    const { execution_state: execution } = checkpointRecord(after({ pending: ['x'] }).state, facts());
    expect(execution.sources).toEqual({
      phase: 'derived',
      completed_items: 'derived',
      pending_items: 'reported',
      blocked_items: 'derived',
    });
    expect(execution.pending_items).toEqual(['x']);
  });

  it('when tasks were closed, refused, blocked, asked about or done before, then each stands where it belongs', () => {
    const specs = [...'ABCDE'].map(id => spec(id, { done: id === 'E' }));
    const story = new Story({ checks: ['npm test'], limits: { attemptsPerTaskMax: 1 } }, specs);
    story.iteration('A', claims('A'));
    story.checked(true);
    story.iteration('B', says('no'));
    story.iteration('C', says('<escalate type="stuck"><summary>Which key?</summary></escalate>'));
    const none = { changes: [], lastChecks: [] };
    const { execution_state: execution } = checkpointRecord(story.state, facts({ ...none, iteration: 3, task: 'C' }));
    expect(execution.completed_items).toEqual(['A: Title of A (checks passed)']);
    expect(execution.pending_items).toEqual(['D: Title of D']);
    expect(execution.blocked_items.map(({ item }) => item)).toEqual(['C: Title of C', 'B: Title of B']);
    expect(execution.blocked_items[0]?.reason).toBe('waits for an answer: Which key?');
    expect(execution.blocked_items[1]?.reason).toMatch(/^1 attempt without a proven result/);
  });

  it('when a claim was refused or is unproven, then the item says so', () => {
    const refused = new Story({ checks: ['npm test'] });
    refused.iteration('A', claims('A'));
    refused.checked(false);
    const none = facts({ changes: [], lastChecks: [] });
    expect(checkpointRecord(refused.state, none).execution_state.pending_items[0]).toBe(
      'A: Title of A (its last claim was not accepted)',
    );
    const unproven = new Story();
    unproven.iteration('A', claims('A'));
    const { execution_state: execution } = checkpointRecord(unproven.state, none);
    expect(execution.completed_items).toEqual(['A: Title of A (closed unverified)']);
    expect(execution.phase).toBe('complete');
  });
});

describe('given a checkpoint before the first iteration', () => {
  it('then it is about no task, and there is nothing to hand over', () => {
    const { task: _none, ...first } = facts({ iteration: 0, label: 'before iteration 1' });
    const record = checkpointRecord(new Story().state, first);
    expect(record.metadata).toMatchObject({ task: '', agent_id: '', iteration: 0, phase: 'planning' });
    expect(record.recovery.continuation_prompt).toBe('');
  });

  it('when the folder keeps no trees, then the record says that nothing can be restored', () => {
    const { saved: _none, ...plain } = facts();
    const record = checkpointRecord(new Story().state, plain);
    expect(record.git).toBeNull();
    expect(record.recovery.rollback_instructions).toEqual(['Nothing can be restored from it: it holds no files.']);
  });
});

describe('given what others wrote', () => {
  it('when names hold control characters, then none reaches the record', () => {
    const sly = 'a\u001b[2Jb\u009b31m\nc\rd\u0007';
    const story = after(undefined, new Story({}, [spec('A', { title: sly })]));
    const changes = [{ path: sly, how: 'added' as const }];
    const dirty = facts({ label: sly, changes, saved: { ...saved, skipped: [{ path: sly, why: 'a pipe' }] } });
    const text = recordText(checkpointRecord(story.state, dirty));
    expect(text).toContain('"path":"ab c d"');
    expect(text).not.toMatch(/\\u00|[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  });

  it('when there is too much of it, then every list is bounded and says how much is missing', () => {
    const specs = Array.from({ length: 300 }, (_, at) => spec(`T-${at}`, { title: 'x'.repeat(900) }));
    const story = new Story({}, [spec('A'), ...specs]);
    const many = Array.from({ length: 5_000 }, (_, at) => ({
      path: `${at}${'p'.repeat(4_000)}`,
      how: 'added' as const,
    }));
    const record = checkpointRecord(after(undefined, story).state, facts({ changes: many, lastChecks: [] }));
    const { pending_items: pending, completed_items: completed, ...execution } = record.execution_state;
    expect(pending).toHaveLength(50);
    expect([pending[0], pending[49]]).toEqual(['A: Title of A', 'and 252 more']);
    expect(completed[0]).toMatch(/^5000 files changed: 0p+ \(added\), .* and 4995 more$/);
    expect([execution.files_changed.length, execution.files_changed_count]).toEqual([100, 5_000]);
    expect(recordText(record).length).toBeLessThan(250_000);
  });

  it('when many tasks are blocked, then the first are named and the rest counted', () => {
    const story = new Story({ limits: { attemptsPerTaskMax: 1, noProgressIterations: 99 } }, [
      ...Array.from({ length: 60 }, (_, at) => spec(`T-${at}`)),
    ]);
    for (let at = 0; at < 60; at += 1) story.given({ type: 'task.blocked', at: t0, task: `T-${at}`, because: 'why' });
    const { blocked_items: blocked } = checkpointRecord(story.state, facts({ task: 'T-7' })).execution_state;
    expect(blocked).toHaveLength(50);
    expect(blocked[0]).toEqual({ item: 'T-7: Title of T-7', reason: 'why' });
    expect(blocked[49]).toEqual({ item: 'and 11 more', reason: '' });
  });
});

describe('given the text of a record', () => {
  const state: State = after(told).state;
  const text = recordText(checkpointRecord(state, facts()));
  const hashOf = (one: string): string => `#${one.length}:${one.slice(0, 50)}`;

  it('then the same facts give the same bytes, in whatever order they came', () => {
    const { anchor, ...rest } = facts();
    expect(recordText(checkpointRecord({ ...state }, { anchor, ...rest }))).toBe(text);
    expect(text.endsWith('}\n')).toBe(true);
  });

  it('then the funnel of secrets finds nothing of ours in it', () => {
    const record = checkpointRecord(state, facts());
    expect(recordText(redactDeep(record, makeRedactor([])))).toBe(text);
  });

  it('when its hash fits, then it is the record; when not, it is nothing', () => {
    expect(verifyRecord(text, hashOf(text), hashOf)).toEqual({ ok: true, record: JSON.parse(text) });
    const other = verifyRecord(`${text} `, hashOf(text), hashOf);
    expect(other).toEqual({ ok: false, problem: 'its SHA-256 is not the one in the ledger' });
  });

  it.each([
    ['{', 'it is not JSON'],
    ['null', 'it has a version that this Ralph does not know'],
    ['{"version":2}', 'it has a version that this Ralph does not know'],
  ])('when it is %s with a fitting hash, then it is refused', (odd, problem) => {
    expect(verifyRecord(odd, hashOf(odd), hashOf)).toEqual({ ok: false, problem });
  });
});
