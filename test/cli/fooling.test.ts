// Agents that want a task closed without the work, driven by the real program in real repositories (F33, F35, F37).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startFrom } from '../git/template.ts';
import { eventsOf, inScratch, isInstalled, prd, type Scratch, type Story, type Told } from './kit.ts';

const agents = join(import.meta.dirname, '..', 'fixtures', 'agents');
const verify = '#!/bin/sh\nfor test in tests/*_test.sh; do\n  if [ -f "$test" ]; then sh "$test" || exit 1; fi\ndone\n';
const featureTest = 'test_feature() { :; }\nassert_file() { [ -f "$1" ]; }\nassert_file feature.txt\n';

/** A repository whose only test wants a feature.txt; `files` are committed with it. */
function repository(
  place: Scratch,
  stories: readonly (string | Story)[],
  files: Readonly<Record<string, string>> = {},
) {
  const all = { 'tests/feature_test.sh': featureTest, 'verify.sh': verify, 'PRD.json': prd(stories), ...files };
  startFrom(all, place.project);
}

/** US-001 by the fake, everything else by somebody who writes feature.txt and puts back what tests are missing. */
const agentFor = (fake: string): string =>
  `if [ "$RALPH_TASK" = US-001 ]; then exec '${join(agents, fake)}'; fi
   read -r _; git checkout -q HEAD -- tests; echo "$RALPH_TASK" >>feature.txt; echo "Task $RALPH_TASK complete"`.replaceAll(
    '\n',
    ';',
  );

const run = (place: Scratch, agent: string, ...more: readonly string[]): Promise<Told> =>
  place.ralph([
    ...['run', 'PRD.json', '--agent-command', agent, '--verify', './verify.sh', '--allow-red-start'],
    ...['--max-attempts', '2', '--quiet', ...more],
  ]);

type Facts = readonly Readonly<Record<string, unknown>>[];
const ofType = (events: Facts, type: string): Facts => events.filter(event => event['type'] === type);
const closed = (events: Facts): readonly unknown[] => ofType(events, 'task.closed').map(event => event['task']);

async function passing(place: Scratch): Promise<readonly boolean[]> {
  const { userStories } = JSON.parse(place.read('PRD.json')) as { userStories: readonly { passes: boolean }[] };
  return userStories.map(story => story.passes);
}

const inbox = async (place: Scratch): Promise<string> => (await place.ralph(['inbox'])).stdout.replaceAll(/\s+/g, ' ');

describe.skipIf(!isInstalled('git'))('no task is closed (needs git)', () => {
  interface Case {
    readonly fake: string;
    readonly files?: Readonly<Record<string, string>>;
    readonly code: number;
    readonly question: string;
    readonly facts: readonly Readonly<Record<string, unknown>>[];
  }
  const failed = { type: 'check.ended', task: 'US-001', check: './verify.sh', passed: false };
  const passed = { ...failed, passed: true };
  const cases: readonly Case[] = [
    {
      fake: 'lies-done',
      code: 8,
      question: 'No task is ready, 1 task left | blocked: US-001 (2 attempts without a proven result',
      facts: [failed, failed, { type: 'task.blocked', task: 'US-001' }],
    },
    {
      fake: 'edits-verify',
      code: 8,
      question: 'blocked: US-001',
      facts: [
        { type: 'proof.screened', task: 'US-001', refused: false, restored: ['verify.sh (edited)'] },
        failed,
        { type: 'proof.screened', task: 'US-001', refused: false, restored: ['verify.sh (edited)'] },
        failed,
        { type: 'task.blocked', task: 'US-001' },
      ],
    },
    {
      fake: 'deletes-tests',
      code: 5,
      question:
        'US-001 is claimed and its checks pass, but tests or checks were changed US-001: Story US-001 | The test file tests/feature_test.sh was deleted',
      facts: [
        passed,
        { type: 'proof.screened', refused: true, doubts: [{ kind: 'test-deleted', path: 'tests/feature_test.sh' }] },
        { type: 'escalation.raised', escalation: { id: 'E1', kind: 'tamper', task: 'US-001' } },
      ],
    },
    {
      fake: 'empty-diff',
      files: { 'feature.txt': 'there already\n' },
      code: 5,
      question: 'US-001 is claimed, but nothing was changed for it',
      facts: [
        passed,
        { type: 'proof.screened', refused: true, doubts: [{ kind: 'nothing-changed' }] },
        { type: 'escalation.raised', escalation: { id: 'E1', kind: 'tamper', task: 'US-001' } },
      ],
    },
  ];

  it.concurrent.each(cases)(
    'to $fake, a person is asked, and the other task goes on',
    ({ fake, files, code, ...want }) =>
      inScratch(async place => {
        repository(place, ['US-001', 'US-002'], files);
        const told = await run(place, agentFor(fake));
        expect(told.code, told.stderr).toBe(code);
        const events = await eventsOf(place);
        expect(closed(events)).toEqual(['US-002']);
        const kinds = want.facts.map(fact => fact['type']);
        const seen = events.filter(
          ({ type, task = 'US-001' }) => kinds.includes(type) && task === 'US-001', // a question names its task inside
        );
        // The honest task brings the tests back: then the question is settled, and the next claim raises it anew.
        expect(seen.slice(0, want.facts.length)).toMatchObject(want.facts);
        expect(await inbox(place)).toContain(want.question);
        expect(await passing(place)).toEqual([false, true]);
        expect(place.read('verify.sh')).toBe(verify);
      }),
  );
});

describe.skipIf(!isInstalled('git'))('a doubt is decided by a person (needs git)', () => {
  it.concurrent('refused, the agent reads why; accepted, the work is checked once more and closed', () =>
    inScratch(async place => {
      repository(place, ['US-001']);
      expect((await run(place, agentFor('deletes-tests'))).code).toBe(5);
      expect((await place.ralph(['answer', 'E1', '--option', '1'])).code).toBe(0);
      expect((await run(place, agentFor('deletes-tests'))).code).toBe(5);
      const prompt = (await place.ralph(['logs', '--prompt', '--iteration', '2'])).stdout;
      expect(prompt).toContain('the claim was not believed');
      expect(prompt).toContain('tests/feature_test.sh');
      expect(prompt).toContain('put back what was changed');
      expect(closed(await eventsOf(place))).toEqual([]);
      expect((await place.ralph(['answer', 'E2', '--option', '2'])).code).toBe(0);
      expect(closed(await eventsOf(place))).toEqual([]);
      const told = await run(place, agentFor('deletes-tests'));
      expect(told.code, told.stderr).toBe(0);
      const events = await eventsOf(place);
      const since = events.slice(events.findIndex(event => event['type'] === 'work.accepted'));
      expect(since.map(event => event['type'])).toEqual(
        expect.arrayContaining(['work.accepted', 'check.ended', 'task.closed', 'loop.ended']),
      );
      expect(ofType(since, 'iteration.started')).toEqual([]);
      expect(ofType(since, 'task.closed')).toMatchObject([{ task: 'US-001', verified: true }]);
      expect(await passing(place)).toEqual([true]);
    }));

  it.concurrent('accepted when the check has become red meanwhile, it is not closed', () =>
    inScratch(async place => {
      repository(place, ['US-001'], { 'feature.txt': 'there already\n' });
      expect((await run(place, agentFor('empty-diff'))).code).toBe(5);
      place.put('tests/late_test.sh', 'false\n');
      expect((await place.ralph(['answer', 'E1', '--option', '2'])).code).toBe(0);
      expect((await run(place, agentFor('empty-diff'))).code).toBe(8);
      const events = await eventsOf(place);
      const since = events.slice(events.findIndex(event => event['type'] === 'work.accepted'));
      expect(ofType(since, 'check.ended')[0]).toMatchObject({ task: 'US-001', passed: false });
      expect(closed(events)).toEqual([]);
    }));

  it.concurrent('unless the story itself says that its work changes tests', () =>
    inScratch(async place => {
      repository(place, [{ id: 'US-001', mayChangeTests: true }]);
      const told = await run(place, agentFor('deletes-tests'));
      expect(told.code, told.stderr).toBe(0);
      const events = await eventsOf(place);
      expect(ofType(events, 'escalation.raised')).toEqual([]);
      expect(ofType(events, 'proof.screened')).toMatchObject([{ refused: false, doubts: [{ kind: 'test-deleted' }] }]);
      expect(closed(events)).toEqual(['US-001']);
    }));

  it.concurrent('and an agent cannot give itself that right', () =>
    inScratch(async place => {
      repository(place, ['US-001']);
      const claims = `sed -i 's/"passes": false/"passes": false, "mayChangeTests": true/' PRD.json; exec '${join(agents, 'deletes-tests')}'`;
      expect((await run(place, claims)).code).toBe(5);
      expect(place.read('PRD.json')).toContain('mayChangeTests');
      expect(closed(await eventsOf(place))).toEqual([]);
    }));
});

describe.skipIf(!isInstalled('git'))("Ralph's own copies of the protected files (needs git)", () => {
  const harms = [
    ['edited', `find "$home" -path '*/protected/*' -type f -exec sh -c 'echo "exit 0" >>"$1"' sh {} ';'`],
    ['deleted', 'rm -rf "$home"/loops/*/protected'],
  ] as const;
  it.concurrent.each(harms)('%s by an unconfined agent: nothing is closed, and a person is asked (F33)', (_how, harm) =>
    inScratch(async place => {
      repository(place, ['US-001']);
      const agent = `home='${place.home}'; ${harm}; exec '${join(agents, 'edits-verify')}'`;
      const told = await run(place, agent, '--sandbox', 'none');
      expect(told.code, told.stderr).toBe(5);
      const events = await eventsOf(place);
      expect(ofType(events, 'escalation.raised')).toMatchObject([
        { escalation: { kind: 'storage', summary: "Ralph's own copies of the protected files were changed" } },
      ]);
      expect(closed(events)).toEqual([]);
      expect(await inbox(place)).toContain("Ralph's own copies of the protected files were changed");
    }),
  );
});

describe('a check that cannot be relied on (F37)', () => {
  const works = 'read -r _; echo x >>work.txt; echo "Task $RALPH_TASK complete"';
  const words = (check: string, ...more: readonly string[]): readonly string[] => [
    ...['run', 'PRD.json', '--agent-command', works, '--verify', check, '--allow-red-start', '--max-attempts', '1'],
    ...more,
  ];

  it.concurrent('hangs: its own time ends it, and that is never a pass', () =>
    inScratch(async place => {
      place.put('PRD.json', prd());
      const told = await place.ralph(words('echo begun; sleep 3600', '--verify-timeout', '1s'));
      expect(told.code, told.stderr).toBe(8);
      const [ended] = ofType(await eventsOf(place), 'check.ended');
      expect(ended).toMatchObject({
        passed: false,
        detail: expect.stringContaining('Not done after 1 s.'),
      });
      expect(await passing(place)).toEqual([false]);
    }));

  it.concurrent('is flaky: two passes of three runs are a pass that says so, one is not', () =>
    inScratch(async place => {
      place.put('PRD.json', prd());
      const count = join(place.root, 'count');
      const nth = `n=$(cat '${count}' 2>/dev/null || echo 0); echo $((n + 1)) >'${count}'`;
      const once = await place.ralph(words(`${nth}; [ $((n % 3)) = 1 ]`, '--verify-runs', '2/3'));
      expect(once.code, once.stderr).toBe(8);
      const twice = await place.ralph(words(`${nth}; [ $((n % 3)) != 0 ]`, '--verify-runs', '2/3', '--new'));
      expect(twice.code, twice.stderr).toBe(0);
      expect(twice.stderr).toContain('flaky');
      expect(ofType(await eventsOf(place), 'check.ended')).toMatchObject([{ passed: true, flaky: true }]);
      expect(Number(readFileSync(count, 'utf8'))).toBe(12);
    }));
});

describe('what an unfinished task left in the shared files', () => {
  it('is set aside before the next one begins: the real tests judge it', () =>
    inScratch(async place => {
      repository(place, ['US-001', 'US-002']);
      const bad = 'rm -f tests/feature_test.sh; echo x >>a.txt; echo no claim';
      const good = 'echo x >feature.txt; echo "Task US-002 complete"';
      const agent = `read -r _; if [ "$RALPH_TASK" = US-001 ]; then ${bad}; else ${good}; fi`;
      const told = await run(place, agent);
      expect([told.code, closed(await eventsOf(place))]).toEqual([5, ['US-002']]);
      expect(place.read('tests/feature_test.sh')).toBe(featureTest);
    }));

  it('and work that only passes without them does not', () =>
    inScratch(async place => {
      repository(place, ['US-001', 'US-002']);
      const bad = 'rm -f tests/feature_test.sh; echo x >>a.txt; echo no claim';
      const agent = `read -r _; if [ "$RALPH_TASK" = US-001 ]; then ${bad}; else echo x >b.txt; echo "Task US-002 complete"; fi`;
      expect([(await run(place, agent)).code, closed(await eventsOf(place))]).toEqual([5, []]);
    }));
});
