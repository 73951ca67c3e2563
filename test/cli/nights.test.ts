// A night with nobody there: ten stories of which four go wrong, each in its own way, and none of them costs another one (F80-F83).
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventsOf, inScratch, isInstalled, type Scratch, type Told } from './kit.ts';
import { filesOf, git, makeRepository, passes } from './repository.ts';

const ids = Array.from({ length: 10 }, (_, at) => `US-${String(at + 1).padStart(3, '0')}`);
const check = 'for test in test/*.sh; do sh "$test" || { echo "FAILED $test"; exit 1; }; done\n';

/** Does each story right: a file, and a test that wants it. */
const rightly =
  'echo "$RALPH_TASK" > "src/$RALPH_TASK.txt"; echo "test -f src/$RALPH_TASK.txt" > "test/$RALPH_TASK.sh"';
const claim = 'echo "Task $RALPH_TASK complete"';

/** `wrong`: what is done in the place of that for some stories, as lines of a shell's `case`. */
const agentFor = (place: Scratch, wrong: Readonly<Record<string, string>>): string => {
  const cases = Object.entries(wrong).map(([id, does]) => `${id}) ${does};;`);
  const script = ['read -r _', 'case $RALPH_TASK in', ...cases, `*) ${rightly}; ${claim};;`, 'esac', ''].join('\n');
  chmodSync(place.put('../agent.sh', script), 0o755);
  return `sh ${join(place.project, '..', 'agent.sh')}`;
};

function backlog(place: Scratch, stories: readonly string[] = ids): void {
  makeRepository(place, stories);
  for (const folder of ['src', 'test']) mkdirSync(join(place.project, folder));
  place.put('check.sh', check);
  place.put('test/base.sh', 'grep -q one a.txt # assert\ntest -f a.txt\n');
  git(place, 'add', 'check.sh', 'test');
  git(place, 'commit', '-q', '-m', 'checks');
}

const run = (place: Scratch, agent: string, ...more: readonly string[]): Promise<Told> =>
  place.ralph([
    ...['run', 'PRD.json', '--agent-command', agent, '--verify', 'sh check.sh', '--no-input', '--quiet'],
    ...['--backoff-base', '1ms', ...more],
  ]);

const ofType = async (place: Scratch, type: string) => (await eventsOf(place)).filter(one => one['type'] === type);

/** The files of each commit, without the task document, by its subject. */
const commits = (place: Scratch): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    git(place, 'log', '--reverse', '--format=%x00%s', '--name-only', 'main')
      .split('\0')
      .slice(1)
      .map(text => text.trim().split(/\n+/))
      .map(([subject = '', ...files]) => [subject, files.filter(file => file !== 'PRD.json').sort()]),
  );

/** Each time it fails in another way: the same three times over would be a question. */
const hopeless = `set -- red green blue white black; shift $((RALPH_ITERATION % 5)); echo "echo $1; exit 1" > test/us4.sh; ${claim}`;
const weakens = `rm test/base.sh; echo 2 > src/us2.txt; ${claim}`;
const asks = [
  ...['<escalate type="stuck">', '<summary>Which color?</summary>', '<context>c</context>', '<options>', '1. red'],
  ...['2. blue', '</options>', '<question>Which?</question>', '</escalate>'],
].join('\\n');
const crashesOnce = (place: Scratch): string => {
  const flag = join(place.project, '..', 'crashed');
  return `if [ ! -e ${flag} ]; then touch ${flag}; echo half > src/half.js; exit 3; fi; ${rightly}; ${claim}`;
};

describe.skipIf(!isInstalled('git'))('ten stories, nobody there (needs git)', () => {
  it('F80, F81, F82: a hopeless one, one that weakens a test, one that crashes and one that asks cost nobody else', () =>
    inScratch(async place => {
      backlog(place);
      const wrong = {
        'US-002': weakens,
        'US-004': hopeless,
        'US-006': crashesOnce(place),
        'US-008': `printf '${asks}\\n'`,
      };
      const told = await run(place, agentFor(place, wrong));
      expect([told.code, passes(place)]).toEqual([5, ids.map(id => !['US-002', 'US-004', 'US-008'].includes(id))]);
      const open = (await place.ralph(['inbox', '--json'])).stdout;
      expect([...open.matchAll(/"id": "(E\d)"/g)].map(found => found[1])).toEqual(['E1', 'E2']);
      // Only its own files are in the commit of a story.
      const own = (id: string): readonly string[] => [`src/${id}.txt`, `test/${id}.sh`];
      const done = ids.filter(id => !['US-002', 'US-004', 'US-008'].includes(id));
      const { first: _first, checks: _checks, ...made } = commits(place);
      expect(made).toEqual(Object.fromEntries(done.map(id => [`${id}: Story ${id}`, own(id)])));
      // What the user had is as it was, and nothing of the others lies around.
      const files = filesOf(place);
      expect([files['b.txt'], files['u.txt'], files['test/base.sh']]).toEqual([
        'b\nmine\n',
        'untracked\n',
        'grep -q one a.txt # assert\ntest -f a.txt\n',
      ]);
      expect(Object.keys(files).filter(name => /us2|us4|half/.test(name))).toEqual([]);
      const aside = await ofType(place, 'work.set-aside');
      expect(aside.map(one => [one['task'], one['paths']])).toEqual([
        ['US-002', ['src/us2.txt', 'test/base.sh']],
        ['US-004', ['test/us4.sh']],
        ['US-008', []], // nothing but its mark in the document
      ]);
      // It is lost to nobody: each lies in a checkpoint.
      for (const { commit, paths } of aside as unknown as readonly { commit: string; paths: readonly string[] }[])
        expect(git(place, 'ls-tree', '-r', '--name-only', commit)).toContain(paths[0] ?? '');
      expect(told.stderr + told.stdout).not.toContain('internal error');
    }));

  it('F83: an agent that is silent about its first story costs that story; after three of them the loop ends and says why', () =>
    inScratch(async place => {
      backlog(place, ids.slice(0, 4));
      const silent = 'echo thinking';
      await run(place, agentFor(place, { 'US-001': silent }), '--max-attempts', '2');
      expect(passes(place)).toEqual([false, true, true, true]);
    }));

  it('F83: three in a row that get nowhere end it', () =>
    inScratch(async place => {
      backlog(place, ids.slice(0, 6));
      const told = await run(place, agentFor(place, { 'US-00[2-5]': 'echo thinking' }), '--max-attempts', '2');
      expect(told.code).toBe(6);
      expect(told.stdout).toContain('3 tasks blocked in a row and none done between, 3 allowed (--max-blocked)');
      expect(passes(place).filter(Boolean)).toHaveLength(1);
    }));
});

describe.skipIf(!isInstalled('git'))('work that was set aside (needs git)', () => {
  const two = ['US-001', 'US-002'];

  it('is told to the next attempt, named by diff and report, and comes back with --with-work', () =>
    inScratch(async place => {
      backlog(place, two);
      const seen = join(place.root, 'prompt');
      const wrong = { 'US-001': `echo "exit 1" > test/us1.sh; ${claim}` };
      const once = ['--max-attempts', '1'];
      expect((await run(place, agentFor(place, wrong), ...once)).code).toBe(8);
      expect((await place.ralph(['diff', '--stat'])).stderr).toContain(
        'Not in it: US-001, its work is set aside: 1 file',
      );
      expect((await place.ralph(['report'])).stdout).toContain('its work is set aside: 1 file in checkpoint 2');
      const retried = await place.ralph(['task', 'retry', 'US-001', '--with-work']);
      expect(retried.stdout + retried.stderr).toContain('Its work comes back before the next attempt');
      const mends = `cat test/us1.sh > ${seen}; echo "test -f a.txt" > test/us1.sh; ${claim}`;
      expect((await run(place, agentFor(place, { 'US-001': mends }), ...once)).code).toBe(0);
      expect(place.read('../prompt')).toBe('exit 1\n');
      expect(commits(place)['US-001: Story US-001']).toEqual(['test/us1.sh']);
    }));

  it('is refused in words where there is none', () =>
    inScratch(async place => {
      backlog(place, two);
      await run(place, agentFor(place, { 'US-001': 'echo thinking' }), '--max-attempts', '1');
      const told = await place.ralph(['task', 'retry', 'US-001', '--with-work']);
      expect([told.code, told.stderr]).toEqual([2, expect.stringContaining('No work of US-001 was set aside.')]);
    }));

  it('comes back when a person accepts it, is checked with what others did since, and is committed alone', () =>
    inScratch(async place => {
      backlog(place, [...two, 'US-003']);
      const agent = agentFor(place, { 'US-002': weakens });
      expect((await run(place, agent)).code).toBe(5);
      expect(passes(place)).toEqual([true, false, true]);
      expect((await place.ralph(['answer', 'E1', '--option', '2'])).code).toBe(0);
      expect((await run(place, agent)).code).toBe(0);
      expect(commits(place)['US-002: Story US-002']).toEqual(['src/us2.txt', 'test/base.sh']);
      expect(filesOf(place)['src/US-003.txt']).toBe('US-003\n');
      expect(await ofType(place, 'work.given-back')).toMatchObject([{ count: 2, kept: [] }]);
    }));

  it('is taken back by a commit where the agent had committed it itself', () =>
    inScratch(async place => {
      backlog(place, two);
      const itself = `echo "exit 1" > test/us1.sh; git add test/us1.sh; git commit -qm mine`;
      await run(place, agentFor(place, { 'US-001': itself }), '--max-attempts', '1');
      const { mine, 'US-001 set aside: Story US-001': back } = commits(place);
      expect([mine, back]).toEqual([['test/us1.sh'], ['test/us1.sh']]);
      expect(git(place, 'ls-files', 'test')).not.toContain('us1');
      expect([passes(place), git(place, 'status', '--porcelain', 'test', 'src')]).toEqual([[false, true], '']);
    }));

  it('leaves a line that a person wrote meanwhile, in a file that both changed', () =>
    inScratch(async place => {
      backlog(place, two);
      const both = 'sed -i "1s/one/ONE/" a.txt; echo "exit 1" > test/us1.sh';
      await run(place, agentFor(place, { 'US-001': both }), '--max-attempts', '2', '--max-iterations', '1');
      expect(place.read('a.txt')).toBe('ONE\ntwo\nthree\n');
      place.put('a.txt', 'ONE\ntwo\nthree, and mine\n');
      place.put('b.txt', 'b\nmine, and more\n');
      agentFor(place, { 'US-001': 'echo thinking' });
      await place.ralph(['resume', 'shop', '--max-iterations', '9', '--no-input', '--quiet']);
      expect([place.read('a.txt'), place.read('b.txt')]).toEqual([
        'one\ntwo\nthree, and mine\n',
        'b\nmine, and more\n',
      ]);
      expect(await ofType(place, 'work.set-aside')).toMatchObject([{ kept: [] }]); // what is the user's alone is not named
      expect(passes(place)).toEqual([false, true]);
    }));

  it('stays where a person changed the same line, and whoever works next is told whose it is', () =>
    inScratch(async place => {
      backlog(place, two);
      const both = 'sed -i "1s/one/ONE/" a.txt; echo thinking';
      const [first, then] = [
        ['--max-iterations', '1'],
        ['--max-iterations', '9'],
      ];
      await run(place, agentFor(place, { 'US-001': both }), '--max-attempts', '2', ...first);
      place.put('a.txt', 'one or ONE\ntwo\nthree\n');
      const reads = `cat > ${join(place.root, 'prompt')}`;
      const script = `if [ "$RALPH_TASK" = US-001 ]; then read -r _; echo thinking; else ${reads}; ${rightly}; ${claim}; fi`;
      await place.ralph(['resume', 'shop', '--agent-command', script, '--no-input', '--quiet', ...then]);
      expect(place.read('a.txt')).toBe('one or ONE\ntwo\nthree\n');
      expect(place.read('../prompt')).toContain('Unfinished work of US-001 is still in these files');
    }));
});
