import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFile } from '../../src/actions/create-file.ts';
import type { Assignment } from '../../src/agents/performer.ts';
import { activitiesOf, assignmentIn, endOf, performerContract } from '../contracts/performer.ts';
import { scratchDirectory } from '../processes/fixture.ts';

const order = (path: string, content: string): Partial<Assignment> => ({
  order: { type: 'create_file', path, content },
  intend: async () => true,
});

performerContract({
  name: 'create_file',
  greeting: '"hello.md" is there already, with this content.',
  make(behaviour) {
    const performer = createFile({ repository: import.meta.dirname });
    const wanted = behaviour === 'fails' ? order('../out.md', '') : undefined;
    return {
      ...performer,
      perform(assignment, stop) {
        const repository = scratchDirectory();
        writeFileSync(join(repository, 'hello.md'), 'hello');
        return createFile({ repository }).perform({ ...assignment, ...(wanted ?? order('hello.md', 'hello')) }, stop);
      },
    };
  },
  directory: () => import.meta.dirname,
  spawns: 'it writes a file itself',
  readsPrompt: 'an action does what its order says and gets no prompt',
  hangs: 'it writes one file and is done',
});

interface Stage {
  readonly repository: string;
  readonly vault: string;
  readonly outside: string;
}

function stage(): Stage {
  const top = scratchDirectory();
  const [repository, vault, outside] = ['repository', 'notes', 'outside'].map(name => join(top, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [join(repository, '.git/hooks'), vault, outside]) mkdirSync(each, { recursive: true });
  return { repository, vault, outside };
}

async function make({ repository, vault }: Stage, path: string, content = 'text\n', more: Partial<Assignment> = {}) {
  const assignment = assignmentIn(repository, { ...order(path, content), ...more });
  return endOf(await activitiesOf(createFile({ repository, vault }), assignment));
}

describe('a file that a plan asks for', () => {
  it('is made with its folders, in the repository or in the vault that plans call vault', async () => {
    const at = stage();
    const message = `Made "docs/new/a.md" in ${JSON.stringify(realpathSync(at.repository))}.`;
    expect(await make(at, 'docs/new/a.md', 'é\n')).toEqual({ type: 'ended', message });
    expect(readFileSync(join(at.repository, 'docs/new/a.md'), 'utf8')).toBe('é\n');
    await make(at, 'vault/Pending_Approval/Calendar/b.md');
    expect(readdirSync(join(at.vault, 'Pending_Approval/Calendar'))).toEqual(['b.md']);
    await make(at, 'Needs_Action/d.md'); // whoever names a folder of the vault means that one
    expect([readdirSync(join(at.vault, 'Needs_Action')), existsSync(join(at.repository, 'Needs_Action'))]).toEqual([
      ['d.md'],
      false,
    ]);
    await make(at, join(at.vault, 'c.md'));
    expect(existsSync(join(at.vault, 'c.md'))).toBe(true);
  });

  it('may be asked for again: the same content is a success, other content is refused and stays', async () => {
    const at = stage();
    await make(at, 'a.md', 'one\n');
    expect((await make(at, 'a.md', 'one\n')).failure).toBeUndefined();
    for (const content of ['two\n', 'longer than before\n']) {
      expect((await make(at, 'a.md', content)).failure).toEqual({
        kind: 'refused',
        detail: '"a.md" is there already, with other content',
      });
    }
    expect(readFileSync(join(at.repository, 'a.md'), 'utf8')).toBe('one\n');
    expect(readdirSync(at.repository).sort()).toEqual(['.git', 'a.md']);
  });

  it('is made by exactly one of many who ask at once with different content', async () => {
    const at = stage();
    const ends = await Promise.all(Array.from({ length: 8 }, (_, index) => make(at, 'a.md', `${index}`.repeat(1_000))));
    expect(ends.filter(each => each.failure === undefined)).toHaveLength(1);
    expect(new Set(readFileSync(join(at.repository, 'a.md'), 'utf8')).size).toBe(1);
    expect(readdirSync(at.repository).sort()).toEqual(['.git', 'a.md']);
  });

  it('is recorded as repeatable first, and not made when the record is refused, missing or stopped', async () => {
    const at = stage();
    const intents: boolean[] = [];
    await make(at, 'a.md', 'x', { intend: async repeatable => intents.push(repeatable) > 0 });
    expect(intents).toEqual([true]);
    expect((await make(at, 'b.md', 'x', { intend: async () => false })).failure?.kind).toBe('stopped');
    expect((await make(at, 'b.md', 'x', { intend: undefined as never })).failure?.kind).toBe('stopped');
    const stopping = new AbortController();
    const hanging = assignmentIn(at.repository, {
      ...order('b.md', 'x'),
      intend: () => {
        stopping.abort();
        return new Promise(() => {});
      },
    });
    const activities = await activitiesOf(createFile(at), hanging, stopping.signal);
    expect(endOf(activities).failure?.kind).toBe('stopped');
    expect(existsSync(join(at.repository, 'b.md'))).toBe(false);
  });
});

describe('a path is refused as invalid, before any record,', () => {
  const rows: readonly (readonly [path: string, why: string])[] = [
    ['', 'empty'],
    ['../outside/a.md', '..'],
    ['docs/../../outside/a.md', '..'],
    ['/etc/ralph-test', 'out of the folders'],
    ['docs/', 'a folder'],
    ['.', 'a folder'],
    ['a\0.md', 'control'],
    ['a\u202egnp.md', 'control or invisible'],
    ['C:/a.md', 'Windows'],
    ['docs\\a.md', 'Windows'],
    ['//server/share/a.md', 'Windows'],
    ['~/a.md', '~'],
    ['.git/hooks/post-commit', '.git'],
    ['.GIT/hooks/a', '.git'],
    ['sub/.Git', '.git'],
    ['.git./config', '.git'],
    ['.git::$INDEX_ALLOCATION/config', '.git'],
    ['GIT~1/config', '.git'],
    ['\uff0egit/config', '.git'],
    [`${'x'.repeat(256)}.md`, 'too long'],
    ['out/a.md', 'out of the folders'],
    ['out/new/a.md', 'out of the folders'],
    ['hooks/a', '.git'],
    ['nowhere/a.md', 'leads nowhere'],
  ];
  it.each(rows)('%j: %s', async (path, why) => {
    const at = stage();
    symlinkSync(at.outside, join(at.repository, 'out'));
    symlinkSync(join(at.repository, '.git/hooks'), join(at.repository, 'hooks'));
    symlinkSync(join(at.repository, 'gone'), join(at.repository, 'nowhere'));
    const before = [readdirSync(at.repository), readdirSync(join(at.repository, '.git'), { recursive: true })];
    const intents: boolean[] = [];
    const end = await make(at, path, 'x', { intend: async repeatable => intents.push(repeatable) > 0 });
    expect(end.failure).toMatchObject({ kind: 'invalid', detail: expect.stringContaining(why) });
    expect(intents).toEqual([]);
    expect(readdirSync(at.outside)).toEqual([]);
    expect([readdirSync(at.repository), readdirSync(join(at.repository, '.git'), { recursive: true })]).toEqual(before);
  });

  it('but a link that stays inside may be gone through, and a link or folder in its place is refused', async () => {
    const at = stage();
    mkdirSync(join(at.repository, 'docs'));
    symlinkSync('docs', join(at.repository, 'linked'));
    expect((await make(at, 'linked/a.md')).message).toContain('Made "docs/a.md" in ');
    symlinkSync(join(at.outside, 'target.md'), join(at.repository, 'b.md'));
    expect((await make(at, 'b.md')).failure).toMatchObject({
      kind: 'refused',
      detail: expect.stringContaining('link'),
    });
    expect((await make(at, 'docs')).failure).toMatchObject({
      kind: 'refused',
      detail: expect.stringContaining('folder'),
    });
    expect((await make(at, 'docs/a.md/c.md')).failure?.kind).toBe('refused');
    expect(readdirSync(at.outside)).toEqual([]);
  });
});

it.each([
  ['vault/Approved/Plans/next.md', 'the folder of approved plans'],
  ['vault/approved/next.md', 'the folder of approved plans'],
  ['.ralph/prompts/review-adversarial.md', '.ralph'],
  ['docs/.claude/settings.json', '.claude'],
])('makes nothing that the next agent or a watch would obey: %s', async (path, where) => {
  const at = stage();
  const { failure } = await make(at, path);
  expect(failure).toMatchObject({ kind: 'invalid', detail: expect.stringContaining(`leads into ${where}`) });
  expect([readdirSync(at.vault), readdirSync(at.repository)]).toEqual([[], ['.git']]);
});

it('knows the folder of approved plans also before there is a vault, and inside the repository', async () => {
  const { repository } = stage();
  const at = { repository, vault: join(repository, 'vault'), outside: '' };
  for (const path of ['vault/Approved/Plans/next.md', join(repository, 'vault/Approved/next.md')])
    expect((await make(at, path)).failure?.detail).toContain('approved plans');
  expect((await make(at, 'vault/Plans/next.md')).failure).toBeUndefined();
});
