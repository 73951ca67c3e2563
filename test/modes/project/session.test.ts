// Proves how a project begins: only inside its folder, never over what is there, and with prompts that can be used.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { initProject, moveEarlierFiles, projectPaths, readOwnPrompt } from '../../../src/modes/project/session.ts';
import { isUntouchedSpec } from '../../../src/modes/project/templates.ts';
import { UsageError } from '../../../src/text/errors.ts';

const root = mkdtempSync(join(tmpdir(), 'ralph-project-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let directory = '';
let count = 0;
beforeEach(() => {
  count += 1;
  directory = join(root, String(count));
  mkdirSync(directory);
});

const ownPrompt = (name: string, text: string | Buffer): void => {
  mkdirSync(join(directory, '.ralph', 'prompts'), { recursive: true });
  writeFileSync(join(directory, '.ralph', 'prompts', `${name}.md`), text);
};

describe('the name of a project', () => {
  it.each(['shop', 'My-Shop_2.0', 'a', 'x'.repeat(63)])('may be %s', name => {
    expect(projectPaths('/w', name)).toMatchObject({
      folder: `/w/.artefacts/${name}`,
      spec: `/w/.artefacts/${name}/spec.md`,
      tasks: `/w/.artefacts/${name}/tasks.json`,
    });
  });

  it.each([
    '',
    '.',
    '..',
    '../x',
    'a/b',
    'a\\b',
    'a..b',
    '-rf',
    '.git',
    'a b',
    'a\n',
    'ü',
    'nul',
    'COM1.x',
    'a.',
    'x'.repeat(64),
    '\u001b[31m',
  ])('may not be %j', async name => {
    expect(() => projectPaths('/w', name)).toThrow(UsageError);
    await expect(initProject(directory, name)).rejects.toThrow(/is no name for a project/);
    expect(existsSync(join(directory, '.artefacts'))).toBe(false);
  });
});

describe('ralph init', () => {
  it('writes the template, and it is known as untouched', async () => {
    const { spec } = await initProject(directory, 'shop');
    expect(spec).toBe(join(directory, '.artefacts/shop/spec.md'));
    const text = readFileSync(spec, 'utf8');
    expect(text).toMatch(/^# shop\n/);
    expect(isUntouchedSpec(text, 'shop')).toBe(true);
  });

  it('changes nothing that is there', async () => {
    const { spec } = await initProject(directory, 'shop');
    writeFileSync(spec, 'mine');
    await expect(initProject(directory, 'shop')).rejects.toThrow('.artefacts/shop/spec.md is already there');
    expect(readFileSync(spec, 'utf8')).toBe('mine');
  });

  it('keeps what else is in the folder', async () => {
    mkdirSync(join(directory, '.artefacts/shop'), { recursive: true });
    writeFileSync(join(directory, '.artefacts/shop/notes.md'), 'mine');
    await initProject(directory, 'shop');
    expect(readFileSync(join(directory, '.artefacts/shop/notes.md'), 'utf8')).toBe('mine');
  });

  it('does not write through a link that leads out of the folder, nor through a dangling one', async () => {
    const outside = join(root, `outside-${count}`);
    mkdirSync(outside);
    symlinkSync(outside, join(directory, '.artefacts'));
    await expect(initProject(directory, 'shop')).rejects.toThrow(/leads out of this folder/);
    expect(existsSync(join(outside, 'shop'))).toBe(false);
    rmSync(join(directory, '.artefacts'));
    mkdirSync(join(directory, '.artefacts/shop'), { recursive: true });
    symlinkSync(join(outside, 'spec.md'), join(directory, '.artefacts/shop/spec.md'));
    await expect(initProject(directory, 'shop')).rejects.toThrow(/already there/);
    expect(existsSync(join(outside, 'spec.md'))).toBe(false);
  });

  it('says what is in the way when the folder cannot be made', async () => {
    writeFileSync(join(directory, '.artefacts'), 'a file');
    await expect(initProject(directory, 'shop')).rejects.toThrow(/cannot be made \((?:EEXIST|ENOTDIR)\)/);
  });

  it('takes the template of the house, filled with the name', async () => {
    ownPrompt('init', '# Brief: {{project_name}}\n');
    expect(readFileSync((await initProject(directory, 'shop')).spec, 'utf8')).toBe('# Brief: shop\n');
  });

  it('refuses a template of the house that names what is not known, and makes nothing', async () => {
    ownPrompt('init', '# {{projectname}}\n');
    await expect(initProject(directory, 'shop')).rejects.toMatchObject({
      message: '.ralph/prompts/init.md: {{projectname}} is no placeholder that Ralph knows.',
      hint: expect.stringContaining('Known are project_name'),
      exitCode: 2,
    });
    expect(existsSync(join(directory, '.artefacts'))).toBe(false);
  });
});

describe('a prompt of one’s own', () => {
  it('is read when it can be used; without one there is nothing to read', async () => {
    expect(await readOwnPrompt(directory, 'execute')).toEqual({ problems: [] });
    ownPrompt('execute', '\uFEFFDo {{task_id}}.');
    expect(await readOwnPrompt(directory, 'execute')).toEqual({ text: 'Do {{task_id}}.', problems: [] });
  });

  it.each([
    ['empty', ' \n', /is empty/],
    ['no UTF-8', Buffer.from([0x61, 0xff]), /not valid UTF-8 at byte 1/],
    ['binary', 'a\0b', /NUL/],
    ['too large', 'x'.repeat(1024 * 1024 + 1), /larger than 1 MB/],
    ['about an execution', 'Do {{task_id}}', /\{\{task_id\}\} is no placeholder/],
  ])('is refused when it is %s', async (_what, text, words) => {
    ownPrompt('interview', text);
    const { problems } = await readOwnPrompt(directory, 'interview');
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toMatch(/^\.ralph\/prompts\/interview\.md/);
    expect(problems[0]?.message).toMatch(words);
  });

  it('is not followed out of the project', async () => {
    const secret = join(root, `secret-${count}`);
    writeFileSync(secret, 'a key');
    ownPrompt('execute', 'x');
    rmSync(join(directory, '.ralph/prompts/execute.md'));
    symlinkSync(secret, join(directory, '.ralph/prompts/execute.md'));
    const { text, problems } = await readOwnPrompt(directory, 'execute');
    expect(text).toBeUndefined();
    expect(problems[0]?.message).toMatch(/leads out of the project/);
  });
});

describe('what an earlier execution left', () => {
  const said: string[] = [];
  const stateOf = ({ folder }: { readonly folder: string }): string => join(folder, 'state.json');
  const keep = (document: string, label = 'loop-1') =>
    moveEarlierFiles(document, label, sentence => void said.push(sentence));
  beforeEach(() => void said.splice(0));

  it('is moved aside for a new one, and that is said; nothing is made when there is nothing', async () => {
    const paths = await initProject(directory, 'shop');
    await keep(paths.tasks);
    expect([existsSync(join(paths.folder, 'earlier')), said]).toEqual([false, []]);
    writeFileSync(stateOf(paths), '[1]');
    writeFileSync(join(paths.folder, 'results.md'), 'old');
    await keep(paths.tasks);
    expect(said).toEqual([expect.stringMatching(/\(state\.json, results\.md\) is kept in .*shop\/earlier\/loop-1\.$/)]);
    expect(readFileSync(join(paths.folder, 'earlier/loop-1/state.json'), 'utf8')).toBe('[1]');
    expect([existsSync(stateOf(paths)), existsSync(paths.spec)]).toEqual([false, true]);
  });

  it('given tasks.json anywhere else, then files beside it are somebody else’s and stay', async () => {
    writeFileSync(join(directory, 'state.json'), 'mine');
    await keep(join(directory, 'tasks.json'));
    expect(readFileSync(join(directory, 'state.json'), 'utf8')).toBe('mine');
    expect([existsSync(join(directory, 'earlier')), said]).toEqual([false, []]);
  });

  it.each([
    ['earlier', 'a link', (path: string, to: string) => symlinkSync(to, path)],
    ['earlier', 'no folder', (path: string) => writeFileSync(path, '')],
    ['earlier/loop-1', 'a link', (path: string, to: string) => symlinkSync(to, path)],
  ])('given that %s is %s, then that is said and nothing is moved', async (name, what, put) => {
    const paths = await initProject(directory, 'shop');
    writeFileSync(stateOf(paths), '[1]');
    const elsewhere = join(directory, 'elsewhere');
    mkdirSync(elsewhere);
    if (name.includes('/')) mkdirSync(join(paths.folder, 'earlier'));
    put(join(paths.folder, name), elsewhere);
    await expect(keep(paths.tasks)).rejects.toThrow(new RegExp(`${name} is ${what}`));
    expect([readFileSync(stateOf(paths), 'utf8'), readdirSync(elsewhere)]).toEqual(['[1]', []]);
  });
});
