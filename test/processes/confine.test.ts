// Real agents in real bubblewrap: what they cannot see or change, and that normal work goes on.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { gitPathsToProtect } from '../../src/git/hooks.ts';
import { confinementKind } from '../../src/processes/confine.ts';
import { systemProgram } from '../../src/processes/contain.ts';
import { isAlive } from '../../src/processes/identity.ts';
import type { ProcessOrder } from '../../src/processes/spawn.ts';
import { descendants } from '../../src/processes/tree.ts';
import { strangersCanRead } from '../documents/ordinary-user.ts';
import {
  agentPath,
  drive,
  orderFor,
  plainEnvironment,
  scratchDirectory,
  signOfLife,
  tell,
  tellUntilFirstWord,
} from './fixture.ts';

const none = { hidden: [], readOnly: [], writable: [] };
const gitNames = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b.c',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b.c',
};
const gitEnvironment = {
  ...plainEnvironment,
  ...gitNames,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
};
const git = (directory: string, ...args: string[]): void =>
  void execFileSync('git', args, { cwd: directory, env: gitEnvironment, stdio: 'ignore' });

interface Ground {
  readonly home: string;
  readonly project: string;
  readonly config: string;
  readonly hook: string;
}

/** A home of Ralph with a secret, and a repository beside it; names with spaces all along. */
function ground(folder = scratchDirectory()): Ground {
  const [home, project] = [join(folder, 'ralph home'), join(folder, 'my project')];
  for (const each of [home, project]) mkdirSync(each);
  writeFileSync(join(home, 'ledger'), 'secret');
  git(project, 'init');
  const config = join(project, '.git', 'config');
  const hook = join(project, '.git', 'hooks', 'pre-commit');
  return { home, project, config, hook };
}

/** `libs/one`, and in it `two`, whose git folder has no folder for hooks; the git folders, from the outside in. */
function withSubmodules(project: string): readonly string[] {
  const modules = [join(project, '.git')];
  for (const path of ['libs/one', 'two']) {
    const tree = join(project, modules.length === 1 ? '' : 'libs/one');
    const gitFolder = join(modules.at(-1)!, 'modules', path);
    mkdirSync(join(tree, path), { recursive: true });
    mkdirSync(dirname(gitFolder), { recursive: true });
    git(project, 'init', '--separate-git-dir', gitFolder, join(tree, path));
    modules.push(gitFolder);
  }
  rmSync(join(modules.at(-1)!, 'hooks'), { recursive: true });
  return modules;
}

function shell({ home, project }: Ground, script: string, more: Partial<ProcessOrder> = {}): ProcessOrder {
  const confinement = { hidden: [home], readOnly: gitPathsToProtect(project), writable: [project] };
  const order = orderFor('', { directory: project, confinement, environment: gitEnvironment, ...more });
  return { ...order, command: 'sh', args: ['-c', script, 'sh', home] };
}

describe.runIf(confinementKind() === 'bubblewrap')('a confined agent (skipped where bubblewrap does not work)', () => {
  let here: Ground;
  beforeEach(() => {
    here = ground();
  });

  it('can neither read nor write the home of Ralph', async () => {
    const script =
      'cat "$1/ledger"; ls -A "$1"; echo x >"$1/ledger"; echo x >"$1/new"; mv "$1" "$1.away"; rm -r "$1"; echo tried';
    const { output } = await tell(shell(here, script));
    expect(output).toBe('tried\n');
    expect(readFileSync(join(here.home, 'ledger'), 'utf8')).toBe('secret');
    expect([existsSync(join(here.home, 'new')), existsSync(`${here.home}.away`)]).toEqual([false, false]);
  });

  it('can commit, but not plant a hook or a setting that a person would run later', async () => {
    const before = readFileSync(here.config, 'utf8');
    const script = [
      'echo evil >.git/hooks/pre-commit',
      'git config core.fsmonitor evil',
      'echo evil >>.git/config',
      'rm -rf .git/hooks; mv .git aside && cp -r aside .git && echo evil >.git/hooks/pre-commit',
      'echo hello >file; git add file && git commit -qm work && git log --format=%s',
    ].join('\n');
    const { output, exit } = await tell(shell(here, script));
    expect({ output, code: exit.code }).toEqual({ output: 'work\n', code: 0 });
    expect(readFileSync(here.config, 'utf8')).toBe(before);
    expect(existsSync(here.hook)).toBe(false);
    expect(readFileSync(join(here.project, 'file'), 'utf8')).toBe('hello\n');
  });

  it('whose container is made ahead still finds protected what was replaced since', async () => {
    const where = 'tr "\\0" "\\n" </proc/1/environ | grep ^MARK; echo evil >>.git/config; echo tried';
    const run = async (mark: string) =>
      (await tell(shell(here, where, { environment: { ...gitEnvironment, MARK: mark } }))).output;
    await run('0');
    expect([await run('1'), await run('2')]).toEqual(['MARK=1\ntried\n', 'MARK=2\ntried\n']);
    expect(await run('3')).toBe('MARK=2\ntried\n'); // made ahead
    writeFileSync(`${here.config}.new`, '[core]\n');
    renameSync(`${here.config}.new`, here.config);
    expect(await run('4')).toBe('MARK=4\ntried\n');
    expect(readFileSync(here.config, 'utf8')).toBe('[core]\n');
  });

  it('makes no settings for the next run, where a user never had any', async () => {
    const settings = join(here.home, '..', 'user', '.config', 'ralph');
    const confinement = { hidden: [here.home], readOnly: [settings], writable: [here.project] };
    const script = `mkdir -p '${settings}'; echo '{"sandbox":"none"}' >'${settings}/config.json'
      mv '${dirname(settings)}' '${dirname(settings)}.away' && mkdir -p '${settings}' && echo '{}' >'${settings}/config.json'`;
    await tell(shell(here, script, { confinement }));
    expect(readdirSync(settings)).toEqual([]);
    expect(existsSync(`${dirname(settings)}.away`)).toBe(false);
  });

  it('finds no way to plant a hook where there was no folder for hooks', async () => {
    rmSync(join(here.project, '.git', 'hooks'), { recursive: true });
    await tell(shell(here, 'mkdir -p .git/hooks; echo evil >.git/hooks/pre-commit'));
    expect(existsSync(here.hook)).toBe(false);
  });

  it.each(['my project', 'tree'])(
    'plants no setting of a single worktree in "%s", where git would read one',
    async name => {
      git(here.project, 'commit', '--allow-empty', '-m', 'first');
      git(here.project, 'config', 'extensions.worktreeConfig', 'true');
      git(here.project, 'worktree', 'add', '../tree');
      const project = join(here.project, '..', name);
      const trap = 'touch "$PWD/../ran"; false';
      const script = `for tree in . "../my project"; do git -C "$tree" config --worktree core.fsmonitor '${trap}'; done
      echo hello >file; git add file && git commit -qm work && git log -1 --format=%s`;
      expect((await tell(shell({ ...here, project }, script))).output).toBe('work\n');
      for (const tree of [here.project, project]) git(tree, 'status');
      expect(existsSync(join(here.project, '..', 'ran'))).toBe(false);
    },
  );

  it.each(['.', 'libs/one', 'libs/one/two'])('plants nothing in a submodule or around it, from "%s"', async inside => {
    const modules = withSubmodules(here.project);
    const project = join(here.project, inside);
    const before = modules.map(folder => readFileSync(join(folder, 'config'), 'utf8'));
    const plant = (folder: string): string =>
      `echo evil >>'${folder}/config'; mkdir -p '${folder}/hooks'; echo evil >'${folder}/hooks/pre-commit'`;
    const script = [
      ...modules.map(plant),
      ...modules.map(folder => `mv '${folder}' '${folder}.old' && cp -r '${folder}.old' '${folder}'`),
      `cd '${here.project}/.git'; for each in modules modules/libs modules/libs/one/modules; do mv $each $each.old && cp -r $each.old $each; done`,
      ...modules.map(plant),
      `cd '${project}'; echo hello >file; git add file && git commit -qm work && git log -1 --format=%s`,
    ].join('\n');
    expect((await tell(shell({ ...here, project }, script))).output).toBe('work\n');
    expect(modules.map(folder => readFileSync(join(folder, 'config'), 'utf8'))).toEqual(before);
    expect(modules.filter(folder => existsSync(join(folder, 'hooks', 'pre-commit')))).toEqual([]);
  });

  it('cannot take the mounts away', async () => {
    const script = 'umount "$1"; mount -o remount,rw "$1"; unshare -Urm umount "$1"; cat "$1/ledger"; echo tried';
    expect((await tell(shell(here, script))).output).toBe('tried\n');
  });

  it('sees its own processes and nobody else', async () => {
    const { output } = await tell(shell(here, 'cd /proc && echo $$ [0-9]*'));
    const [own, ...all] = output.trim().split(' ').map(Number);
    expect(all).toContain(own);
    expect(Math.max(...all)).toBeLessThan(20);
  });

  it('has its input, exit code, errors and environment like any other', async () => {
    const script = 'cat; echo oops >&2; pwd; exit 7';
    const { output, errors, exit } = await tell(shell(here, script, { input: 'prompt\n' }));
    expect({ output, errors }).toEqual({ output: `prompt\n${here.project}\n`, errors: 'oops\n' });
    expect(exit).toEqual({ type: 'exited', code: 7, signal: null, timedOut: false, stoppedByUs: false, reaped: 0 });
  });

  it('works in a folder that lies in a hidden one', async () => {
    const inner = ground(here.home);
    const confinement = { hidden: [here.home], readOnly: gitPathsToProtect(inner.project), writable: [inner.project] };
    const script = 'echo evil >.git/hooks/x; echo done >file; cat ../ledger; ls -A ..; pwd';
    const { output } = await tell(shell(inner, script, { confinement }));
    expect(output).toBe(`my project\n${inner.project}\n`);
    expect(readFileSync(join(inner.project, 'file'), 'utf8')).toBe('done\n');
    expect(existsSync(join(inner.project, '.git', 'hooks', 'x'))).toBe(false);
  });

  it('is not confined by what does not exist', async () => {
    const confinement = { hidden: [join(here.home, 'no')], readOnly: ['/no/such/path'], writable: ['/nor/this'] };
    const { output } = await tell(shell(here, 'cat "$1/ledger"', { confinement }));
    expect(output).toBe('secret');
  });

  it('does not see through a link, nor a single hidden file', async () => {
    const link = `${here.home} link`;
    symlinkSync(here.home, link);
    const file = join(here.project, 'token');
    writeFileSync(file, 'secret');
    const confinement = { ...none, hidden: [link, file] };
    expect((await tell(shell(here, 'cat "$1/ledger" token; echo tried', { confinement }))).output).toBe('tried\n');
  });

  it('hears TERM, and is killed when it does not heed it', async () => {
    const heeds = await tellUntilFirstWord({ ...orderFor('hangs', { confinement: none }) });
    expect(heeds.exit).toMatchObject({ code: 143, signal: 'SIGTERM', stoppedByUs: true, reaped: 0 });
    const deaf = await tellUntilFirstWord(orderFor('ignores-term', { confinement: none, graceMs: 100 }));
    expect(deaf.exit).toMatchObject({ code: 137, signal: 'SIGKILL', stoppedByUs: true, reaped: 2 });
  });

  it('leaves no daemon behind, and what it left is counted (F23)', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    const { exit } = await tell(orderFor('spawns-orphan', { directory, confinement: none }));
    expect(exit.code).toBe(0);
    expect(exit.reaped).toBeGreaterThanOrEqual(3);
    expect(life.anyAlive()).toBe(false);
  });

  it('is held to its limits (F30)', async () => {
    const order = orderFor('forks-storm', { args: ['60'], limits: { processesMax: 20 }, confinement: none });
    expect((await tell(order)).exit).toMatchObject({ cause: 'processes', code: 137, signal: 'SIGKILL' });
  });

  it('dies with us when we are killed with -9 (F02)', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    const driver = await drive(directory, 'confined', agentPath('spawns-orphan'), 'stay');
    const tree = descendants(driver.pid!);
    expect(tree.length).toBeGreaterThanOrEqual(6);
    driver.kill('SIGKILL');
    await vi.waitFor(() => expect(tree.filter(each => isAlive(each.pid, each.startTime))).toEqual([]), 10_000);
    expect(life.anyAlive()).toBe(false);
  });
});

/** What a user without rights gets, tried as one where we may become one. */
describe.runIf(confinementKind() === 'bubblewrap' && process.getuid?.() === 0)(
  'a confined agent of a plain user',
  () => {
    it('is confined just the same', async ({ skip }) => {
      skip(!strangersCanRead(import.meta.filename), 'this clone lies below a folder that only root can read');
      const here = ground();
      chmodSync(join(here.home, '..'), 0o755);
      for (const path of execFileSync('find', [join(here.home, '..'), '-print0'], { encoding: 'utf8' }).split('\0'))
        if (path !== '') chownSync(path, 65534, 65534);
      const script = `
      import { runProcess } from ${JSON.stringify(join(import.meta.dirname, '../../src/processes/spawn.ts'))};
      import { confinementKind } from ${JSON.stringify(join(import.meta.dirname, '../../src/processes/confine.ts'))};
      import { gitPathsToProtect } from ${JSON.stringify(join(import.meta.dirname, '../../src/git/hooks.ts'))};
      const [home, directory] = process.argv.slice(1);
      const script = 'id -u; cat "$1/ledger"; echo x >"$1/new"; echo x >.git/hooks/x; echo hi >file; git add file && git commit -qm work && git log --format=%s; exit 3';
      const run = runProcess({ command: 'sh', args: ['-c', script, 'sh', home], directory, environment: process.env, input: '',
        timeMsMax: 2e4, stop: new AbortController().signal,
        confinement: { hidden: [home], readOnly: gitPathsToProtect(directory), writable: [directory] } });
      console.log(confinementKind());
      for await (const event of run) console.log(event.type === 'output' && event.channel === 'output' ? event.text : event.code ?? '');`;
      const drop = ['--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath];
      const words = ['--input-type=module-typescript', '-e', script, here.home, here.project];
      const told = execFileSync('setpriv', [...drop, ...words], {
        env: { ...gitEnvironment, HOME: here.project },
        encoding: 'utf8',
      });
      const lines = told.split('\n').filter(line => line !== '');
      skip(lines[0] === 'none', 'this host lets only root use bubblewrap');
      expect(lines).toEqual(['bubblewrap', '65534', 'work', '3']);
      expect(existsSync(join(here.project, '.git', 'hooks', 'x'))).toBe(false);
    });
  },
);

it('is to be had wherever bubblewrap itself runs', () => {
  const { status } = spawnSync(systemProgram('bwrap') ?? 'false', ['--bind', '/', '/', '--unshare-pid', '--', 'true']);
  expect(confinementKind()).toBe(status === 0 ? 'bubblewrap' : 'none');
});
