// Proves the seed's review state file field for field, its counts after any history, and that it tells nothing it does not know.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Event } from '../../../src/core/event.ts';
import { initialState } from '../../../src/core/state.ts';
import { evolve } from '../../../src/modes/evolve.ts';
import type { ViewFile } from '../../../src/modes/mode.ts';
import { ReviewStateView } from '../../../src/modes/review/state-view.ts';
import { found, ReviewWorld } from './review-world.ts';

const place = { directory: '/somewhere', folder: '/home/loops/1' };

/** From the ledger alone, as a new process makes them. */
function filesOf(events: readonly Event[]): readonly ViewFile[] {
  const view = new ReviewStateView(place);
  let state = initialState;
  for (const event of events) {
    state = evolve(state, event);
    view.add(event, state);
  }
  return view.files(state);
}

const textOf = (world: ReviewWorld): string => filesOf(world.events)[0]!.text!;
const metricsOf = (world: ReviewWorld): Record<string, number> => JSON.parse(filesOf(world.events)[1]!.text!);

function fieldsOf(text: string): Record<string, unknown> {
  const [, matter] = text.split('---\n');
  return parse(matter!);
}

/** Round 1 of the page docs/formats/review.md: two issues, one mended, one at work for the second time. */
function worked(): ReviewWorld {
  const world = new ReviewWorld({
    reviewers: ['adversarial', 'facilitator', 'elicitation'],
    section: 'Executive summary',
    workflow: 'create-prd',
  });
  world.answers('R1-adversarial', 72, found('The budget contradicts the plan', { severity: 'critical' }));
  world.fails('R1-facilitator').answers('R1-facilitator', 88);
  world.answers('R1-elicitation', 80, found('Who owns the rollout?', { place: 'Rollout' }));
  world.mends('I1').fails('I2').begin('I2');
  return world;
}

describe('the state file', () => {
  it('is the one that docs/formats/review.md shows', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/formats/review.md'), 'utf8');
    expect(page).toContain(`\`\`\`yaml\n${textOf(worked())}\`\`\``);
  });

  it('has the fields of the seed, in its order, and no others', () => {
    expect(Object.keys(fieldsOf(textOf(worked())))).toEqual([
      'active',
      'workflow_name',
      'section_name',
      'content_path',
      'current_round',
      'max_rounds',
      'current_fix_iteration',
      'max_fix_iterations',
      'initial_confidence',
      'current_confidence',
      'target_confidence',
      'total_issues',
      'pending_count',
      'in_progress_count',
      'fixed_count',
      'blocked_count',
      'consecutive_failures',
      'total_failures',
      'error_history',
      'max_consecutive_failures',
      'started_at',
      'last_updated',
      'completion_promise',
    ]);
  });

  it('says null for a confidence that nobody has stated yet', () => {
    const fields = fieldsOf(textOf(new ReviewWorld().answers('R1-adversarial', 99, found('One'))));
    expect(fields).toMatchObject({ initial_confidence: null, current_confidence: null });
    expect(fields).toMatchObject({ current_round: 1, total_issues: 1, pending_count: 1 });
  });

  it('keeps the last five errors, each on one line', () => {
    const world = new ReviewWorld();
    for (let at = 0; at < 7; at += 1) world.fails('R1-adversarial');
    const { error_history: errors, total_failures: failures } = fieldsOf(textOf(world));
    expect(errors).toEqual([3, 4, 5, 6, 7].map(iteration => `iteration ${iteration}: it failed`));
    expect(failures).toBe(7);
  });

  it('stays readable whatever a name holds, and nothing closes the front matter early', () => {
    const odd = '---\n"x": [1, 2]\n\u001b[31m\ud800 # y\n---';
    const world = new ReviewWorld({ section: odd, workflow: odd }, `/somewhere/${odd}.md`);
    const text = textOf(world);
    expect(text.split('\n').filter(line => line === '---')).toHaveLength(2);
    expect(fieldsOf(text)).toMatchObject({ section_name: '--- "x": [1, 2] \ufffd # y ---' });
  });

  it('goes when the review is achieved, and stays inactive otherwise', () => {
    const done = new ReviewWorld({ reviewers: ['adversarial'] }).answers('R1-adversarial', 99).ends('goal_achieved');
    expect(filesOf(done.events)[0]).toEqual({ path: '/somewhere/.claude/review-loop-state.yaml', text: null });
    expect(fieldsOf(textOf(worked().ends('max_iterations')))['active']).toBe(false);
    expect(fieldsOf(textOf(worked()))['active']).toBe(true);
  });

  it('is what a stop hook of grep, awk and sed reads and counts on', () => {
    const folder = mkdtempSync(join(tmpdir(), 'review-'));
    const path = join(folder, 'review-loop-state.yaml');
    const world = new ReviewWorld({ reviewers: ['adversarial'] });
    writeFileSync(path, textOf(world.answers('R1-adversarial', 72, found('One'), found('Two'))));
    const sh = (line: string): string =>
      execFileSync('sh', ['-c', line], { cwd: folder, encoding: 'utf8' }).trim().replaceAll(/\n+/g, '\n');
    const field = (name: string): string => sh(`grep "${name}:" ${path} | awk '{print $2}'`);
    expect(['pending_count', 'max_rounds', 'current_round', 'completion_promise'].map(field)).toEqual([
      ...['2', '3', '1'],
      '"ALL_ISSUES_RESOLVED"',
    ]);
    const prompt = sh(`awk '/^---$/{i++; next} i>=2' ${path}`);
    expect(prompt).toContain('<review-complete>ALL_ISSUES_RESOLVED</review-complete>');
    sh(`sed "s/current_round: 1/current_round: 2/" ${path} > ${path}.new && mv ${path}.new ${path}`);
    expect(fieldsOf(readFileSync(path, 'utf8'))['current_round']).toBe(2);
  });

  it('is not written anew for a sign of life', () => {
    const world = worked();
    const before = filesOf(world.events);
    world.now += 60_000;
    world.append({ type: 'iteration.heartbeat', at: world.now, iteration: world.state.iterations.begun, quietMs: 0 });
    expect(filesOf(world.events)).toEqual(before);
  });
});

it('the figures are those of the seed', () => {
  expect(filesOf(worked().events)[1]?.path).toBe('/home/loops/1/review-metrics.json');
  const { elapsed_minutes: minutes, ...metrics } = metricsOf(worked());
  expect(metrics).toEqual({
    started_at: expect.stringMatching(/^20\d\d-/),
    review_rounds: 1,
    fix_iterations: 3,
    total_issues_found: 2,
    total_issues_fixed: 1,
    total_issues_blocked: 0,
    subagent_invocations: 7,
    failures: 2,
    backoff_delays_total: 4,
    success_rate: 0.5,
  });
  expect(minutes).toBeCloseTo(13 / 60);
});

it('an iteration that is performed again after a crash is no new one', () => {
  const world = worked();
  const before = metricsOf(world);
  const started = world.events.findLast(event => event.type === 'iteration.started')!;
  world.append({ ...started, again: true });
  expect(metricsOf(world)).toEqual(before);
});

it('the counts are those of the tasks at every crash point', () => {
  const steps = fc.array(fc.tuple(fc.nat(5), fc.nat(9)), { maxLength: 40 });
  fc.assert(
    fc.property(steps, rolls => {
      const world = new ReviewWorld();
      for (const [what, which] of rolls) {
        const ready = world.ready();
        const task = ready[which % Math.max(1, ready.length)];
        if (task === undefined) break;
        const issues = [found(`Number ${which} is off`), found('So is this one')].slice(0, which % 3);
        if (what === 0) world.fails(task);
        else if (what === 1) world.blocks(task);
        else if (what === 2) world.skips(task);
        else if (what === 3) world.begin(task);
        else if (task.startsWith('R')) world.answers(task, 90, ...issues);
        else world.mends(task);
      }
      for (let end = 2; end <= world.events.length; end += 7) {
        const events = world.events.slice(0, end);
        const closed = new Set<string>();
        const blocked = new Set<string>();
        for (const event of events) {
          if (event.type === 'task.closed' && event.task.startsWith('I')) closed.add(event.task);
          if (event.type === 'task.blocked' && event.task.startsWith('I')) blocked.add(event.task);
        }
        const fields = fieldsOf(filesOf(events)[0]!.text!) as Record<string, number>;
        expect(fields).toMatchObject({ fixed_count: closed.size, blocked_count: blocked.size });
        const skipped = events.filter(event => event.type === 'task.skipped' && event.task.startsWith('I')).length;
        const { pending_count: pending = 0, in_progress_count: active = 0, total_issues: total } = fields;
        expect(pending + active + closed.size + blocked.size + skipped).toBe(total);
      }
    }),
    { numRuns: 20, seed: 3 },
  );
});
