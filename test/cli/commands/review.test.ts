// `ralph review` through the real binary: found, mended, looked at again; told why, handed on, asked, killed and resumed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { confinementKind } from '../../../src/processes/confine.ts';
import { eventsOf, eventually, isInstalled, type Live, type Scratch } from '../kit.ts';
import { git, loopOf } from '../repository.ts';
import { fakeClaude, inWorkshop } from '../workshop.ts';

const content = '_bmad-output/planning-artifacts/prd.md';
const statePath = '.claude/review-loop-state.yaml';

/** `cases`: arms of a shell `case` on the task; `"$P"` is the prompt, "$0.d" a folder of the test's own. */
const agent = (cases: string): string => `#!/bin/bash
P=$(cat)
found() { echo 'I have looked.'; echo '<review>'; echo "{\\"confidence\\": $1, \\"issues\\": [$2]}"; echo '</review>'; }
issue() { echo "{\\"issue\\": \\"$1\\", \\"severity\\": \\"\${2:-high}\\", \\"place\\": \\"## $1\\", \\"confidence\\": 90}"; }
may() { [ -e "$0.d/$1" ]; }
waits() { may "$1" || { echo 'at work'; sleep 3600; }; }
mends() { echo "$(grep -om1 'One\\|Two\\|Three\\|Four\\|Five\\|Six\\|Seven\\|Eight' <<< "$P") is mended" >> ${content}; echo "Task $RALPH_TASK complete"; }
case "$RALPH_TASK" in
${cases}
esac
`;

/** A document to review, an agent to do it, and the command. */
function given(place: Scratch & { readonly install: (name: string, text: string) => void }, cases: string) {
  mkdirSync(join(place.project, '_bmad-output/planning-artifacts'), { recursive: true });
  place.put(content, '# Shop\n\n## Executive summary\n\nIt is fast.\n');
  place.install('reviewer', agent(cases));
  const program = join(place.root, 'bin', 'reviewer');
  mkdirSync(`${program}.d`);
  const words = ['review', content, '--agent-command', program, '--backoff-base', '10ms'];
  return {
    words,
    lets: (name: string): void => writeFileSync(join(`${program}.d`, name), ''),
    run: (...more: readonly string[]) => place.ralph([...words, ...more]),
    metrics: () => JSON.parse(readFileSync(join(place.home, 'loops', loopOf(place), 'review-metrics.json'), 'utf8')),
    state: (): Readonly<Record<string, unknown>> =>
      existsSync(join(place.project, statePath)) ? parse(place.read(statePath).split(/^---$/m)[1] ?? '') : {},
  };
}

const counted = ({
  total_issues,
  pending_count,
  in_progress_count,
  fixed_count,
  blocked_count,
}: Record<string, unknown>) => [total_issues, pending_count, in_progress_count, fixed_count, blocked_count];

async function killed({ child, ended }: Live): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

describe('a review', () => {
  it.concurrent(
    'given the seed’s own example, killed among reviewers and in a fixer, then every count is right and it ends well',
    inWorkshop(async place => {
      const { words, lets, state, metrics } = given(
        place,
        `R1-adversarial) found 72 "$(issue One critical), $(issue Two), $(issue Three low)";;
R1-facilitator) found 80 "$(issue One), $(issue Four)";;
R1-elicitation) waits reviewer; found 75 "$(issue Five), $(issue Six), $(issue Seven), $(issue Eight)";;
I5) waits fixer; mends;;
I*) mends;;
*) found 96;;`,
      );
      const asked = [...words, '--section', 'executive-summary', '--workflow', 'create-prd'];
      const reviewing = place.start(asked);
      await eventually('the state file shows both answers', () => state()['total_issues'] === 4);
      await killed(reviewing);
      expect(counted(state())).toEqual([4, 4, 0, 0, 0]);

      lets('reviewer');
      const fixing = place.start(asked);
      await fixing.says(/Iteration \d+: I5 /);
      await eventually('the state file shows who is at work', () => `${counted(state())}` === '8,4,1,3,0');
      await killed(fixing);
      expect(state()).toEqual({
        active: true,
        workflow_name: 'create-prd',
        section_name: 'executive-summary',
        content_path: content,
        current_round: 1,
        max_rounds: 3,
        current_fix_iteration: 1,
        max_fix_iterations: 3,
        initial_confidence: 72,
        current_confidence: 72,
        target_confidence: 95,
        total_issues: 8,
        pending_count: 4,
        in_progress_count: 1,
        fixed_count: 3,
        blocked_count: 0,
        consecutive_failures: 0,
        total_failures: 0,
        error_history: [],
        max_consecutive_failures: 5,
        started_at: expect.any(String),
        last_updated: expect.any(String),
        completion_promise: 'ALL_ISSUES_RESOLVED',
      });
      expect((await place.ralph(['status'])).stdout).toContain('6/11 tasks');

      lets('fixer');
      const told = await place.ralph(asked);
      expect(told.stderr).toContain('note: No heading of prd.md holds "executive-summary" (--section)');
      expect(told.stdout).toMatch(
        /^Done: review round 2 found nothing, confidence 96 % \(95 % wanted\); 8 of 8 issues fixed, 16 iter/,
      );
      expect(told.code).toBe(0);
      expect(() => place.read(statePath)).toThrow('ENOENT');
      const mended = place.read(content).match(/\w+(?= is mended)/g) ?? [];
      expect([mended[0], mended[7], new Set(mended).size]).toEqual(['One', 'Three', 8]); // the most severe first
      expect(metrics()).toMatchObject({ review_rounds: 2, fix_iterations: 9, subagent_invocations: 16, failures: 0 });
      expect(metrics()).toMatchObject({ total_issues_found: 8, total_issues_fixed: 8, total_issues_blocked: 0 });
    }),
  );

  it.concurrent(
    'given a reviewer that always fails, then after 3 failures the next agent looks, after 5 a person is asked, and it goes on',
    inWorkshop(async place => {
      const { run, lets, metrics, state } = given(place, 'R*) may heal || exit 1; found 99;;');
      place.install('claude', fakeClaude('process.exit(1)'));
      const env = { PATH: `${join(place.root, 'bin')}:${place.env['PATH']}` };
      const chain = ['--reviewer', 'party-facilitator', '--agent', 'command', '--fallback', 'claude'];
      const words = [
        'review',
        content,
        '--agent-command',
        join(place.root, 'bin', 'reviewer'),
        '--backoff-base',
        '10ms',
      ];
      const failed = await place.ralph([...words, ...chain], { env });
      expect(failed.stdout).toContain('Waiting for you: 5 failures in a row, the last one of R1-party-facilitator.');
      expect(failed.code).toBe(5);
      const started = (await eventsOf(place)).filter(event => event['type'] === 'iteration.started');
      expect(started.map(event => event['performer'])).toEqual(['command', 'command', 'command', 'claude', 'claude']);
      expect(state()).toMatchObject({ consecutive_failures: 5, total_failures: 5, current_confidence: null });
      expect(state()['error_history']).toHaveLength(5);
      lets('heal');
      await place.ralph(['answer', 'E1', '--option', '1']);
      const told = await run(...chain.slice(0, 2));
      expect([told.code, told.stdout]).toEqual([
        0,
        expect.stringMatching(/^Done: review round 1 found nothing, confidence 99/),
      ]);
      expect(metrics()).toMatchObject({
        failures: 5,
        subagent_invocations: 6,
        backoff_delays_total: expect.any(Number),
      });
      expect(metrics().backoff_delays_total).toBeGreaterThan(0);
    }),
  );

  it.concurrent(
    'given nonsense twice, then the reviewer is told why each time; and what nobody is sure of is never called done',
    inWorkshop(async place => {
      const { run, state } = given(
        place,
        `R1-adversarial) case "$P" in
  *'There is no <review> block'*) found '"high"';;
  *'must be a number from 0 to 100'*) found 80;;
  *) echo 'Nice text.';;
  esac;;
R*) found 80;;`,
      );
      const told = await run('--rounds', '2', '--reviewer', 'adversarial');
      expect(told.stderr).toContain('✗ R1-adversarial: There is no <review> block in the last message.');
      expect(told.stdout).toBe(
        'Over, but not done: review round 2 of 2 (--rounds): confidence 80 %, 95 % wanted (--target-confidence). 4 iterations, cost not reported.\n',
      );
      expect(told.code).toBe(3);
      expect(state()).toMatchObject({
        active: false,
        current_round: 2,
        initial_confidence: 80,
        current_confidence: 80,
      });
      const again = await run('--rounds', '2', '--reviewer', 'adversarial');
      expect([again.code, again.stderr]).toEqual([3, expect.stringContaining('the same command with --new')]);
      expect(again.stderr).not.toContain('Go on, counters kept');
    }),
  );

  it.concurrent(
    'given a fixer that says review-blocked, then a person is asked and heard; and a limit ends it with work left',
    inWorkshop(async place => {
      const { run, state, metrics } = given(
        place,
        `R1*) found 70 "$(issue One)";;
I1) case "$P" in
  *'200 ms'*) mends;;
  *) echo 'Only its owner knows.'; echo '<review-blocked>MANUAL_INTERVENTION_REQUIRED</review-blocked>';;
  esac;;
R*) found 99;;`,
      );
      const one = ['--reviewer', 'adversarial'];
      const asks = await run(...one);
      expect([asks.code, asks.stdout]).toEqual([5, expect.stringMatching(/^Waiting for you: I1 needs a person\./)]);
      await place.ralph(['answer', 'E1', '--text', 'At most 200 ms']);
      const limited = await run(...one, '-n', '3');
      expect([limited.code, limited.stdout]).toEqual([
        3,
        expect.stringContaining('iteration 3 of 3 (--max-iterations)'),
      ]);
      expect(counted(state())).toEqual([1, 0, 0, 1, 0]);
      const told = await place.ralph(['resume', '--max-iterations', '9']);
      expect([told.code, told.stdout]).toEqual([0, expect.stringContaining('1 of 1 issue fixed, 4 iterations')]);
      expect(metrics()).toMatchObject({ review_rounds: 2, fix_iterations: 2, failures: 0 });
    }),
  );

  it.skipIf(!isInstalled('git')).concurrent(
    'given a reviewer that writes although it is only to look, then it cannot; without confinement it is said',
    inWorkshop(async place => {
      git(place, 'init', '-q');
      const { run } = given(place, `R*) echo REVIEWED >> ${content}; touch stray; found 99;;`);
      const one = ['--reviewer', 'adversarial', '--new'];
      if (confinementKind() !== 'none') {
        expect((await run(...one)).code).toBe(0);
        expect([place.read(content).includes('REVIEWED'), git(place, 'status', '--short').includes('stray')]).toEqual([
          false,
          false,
        ]);
      }
      const told = await run(...one, '--sandbox', 'none');
      expect(told.stderr).toMatch(/files changed while R1-adversarial was only to look: .*prd\.md, stray \(ralph diff/);
    }),
  );
});

/** It says what codex says around one message. */
const fakeCodex = `#!/bin/sh
read -r _
cat <<'END'
{"type":"thread.started","thread_id":"t1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"<review>{\\"confidence\\": 99, \\"issues\\": []}</review>"}}
{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":2,"reasoning_output_tokens":0}}
END
`;

describe('reviewers of two vendors', () => {
  it.concurrent.each([
    [
      '--task-agent',
      'R1-facilitator=codex',
      ['R1-adversarial claude', 'R1-elicitation claude', 'R1-facilitator codex'],
    ],
    ['--phase-agent', 'reviewing=codex', ['R1-adversarial codex', 'R1-elicitation codex', 'R1-facilitator codex']],
  ])('%s %s: who was named looks', (flag, pair, who) => {
    const look = inWorkshop(async place => {
      const { words } = given(place, '*) found 99 "" ;;');
      place.install('claude', fakeClaude('say(`<review>{"confidence": 99, "issues": []}</review>`)'));
      place.install('codex', fakeCodex);
      const named = words.map((word, at) => (word === '--agent-command' ? '--agent' : at === 3 ? 'claude' : word));
      const told = await place.ralph([...named, flag, pair, '--rounds', '1', '--no-input'], { env: place.path });
      expect(told.code, told.stderr).toBe(0);
      const ended = (await eventsOf(place)).filter(event => event['type'] === 'iteration.ended');
      expect(ended.map(event => `${event['task']} ${event['performer']}`).sort()).toEqual(who);
    });
    return look();
  });

  it.concurrent('a look that no round will have is still an error', () =>
    inWorkshop(async place => {
      const { run } = given(place, '*) ;;');
      for (const id of ['R9-facilitator', 'R1-nobody', 'US-001']) {
        const told = await run('--task-agent', `${id}=command`);
        expect(told).toMatchObject({ code: 2, stderr: expect.stringContaining(`has no task "${id}"`) });
      }
    })());
});
