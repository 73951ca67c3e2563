// Odd folders, file names, homes and terminals through the real binary: it works, or it says in one sentence why not.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { confinementKind } from '../../src/processes/confine.ts';
import { strangersCanRead } from '../documents/ordinary-user.ts';
import {
  asks,
  binary,
  claims,
  inScratch,
  isInstalled,
  pinnedNode,
  prd,
  refused,
  runScript,
  type Scratch,
  scripted,
} from './kit.ts';

const execute = promisify(execFile);

const inProject = (work: (place: Scratch) => Promise<void>) => () =>
  inScratch(async place => {
    scripted(place, ['US-001'], [claims()]);
    await work(place);
  });

describe('names of files and folders', () => {
  const names = [
    'with space',
    `quote's "double"`,
    'new\nline',
    '$(touch pwned)',
    'a;b&c|d',
    '-dash',
    'cafe\u0301',
    'caf\u00e9',
    '日本語',
    'dot.',
    'CON',
    'nul',
    '*',
  ];
  for (const name of names) {
    it.concurrent(
      `B12: a folder and a file called ${JSON.stringify(name)} work and are never split`,
      inProject(async place => {
        const folder = join(place.project, name);
        mkdirSync(folder);
        const file = `${name}.json`;
        writeFileSync(join(folder, file), prd());
        writeFileSync(join(folder, 'script.json'), place.read('script.json'));
        const verify = `test -f ${`'${file.replaceAll("'", `'\\''`)}'`}`;
        // A check is one line; where the name is two, any other check will do.
        const checks = ['--verify', name.includes('\n') ? 'test -f script.json' : verify];
        const words = ['run', '--script', 'script.json', ...checks, '--', file];
        const told = await place.ralph(words, { cwd: folder });
        expect(told.stderr).not.toContain('ralph:');
        expect(told.code).toBe(0);
        expect(JSON.parse(readFileSync(join(folder, file), 'utf8')).userStories[0].passes).toBe(true);
        expect((await place.ralph(['status'], { cwd: folder })).stdout).toMatch(/^shop {2}completed/);
        expect(existsSync(join(folder, 'pwned'))).toBe(false);
      }),
    );
  }

  it.concurrent(
    'B12: a path of 5,000 characters and a name with a NUL are refused in short',
    inProject(async place => {
      const told = await refused(place, ['run', 'x'.repeat(5_000), '--script', 'script.json'], /There is no file "xxx/);
      expect(told.stderr.length).toBeLessThan(500);
    }),
  );

  it.concurrent(
    'B11: after -- a word with a dash is a file, before it is a flag',
    inProject(async place => {
      place.put('-x.json', prd());
      await refused(place, ['run', '-x.json', '--script', 'script.json'], /Unknown option '-x\.json'/);
      expect((await place.ralph(['run', '--script', 'script.json', '--', '-x.json'])).code).toBe(0);
    }),
  );

  it.concurrent(
    'B11: `tell -` reads the text from standard input',
    inProject(async place => {
      scripted(place, ['US-001'], [{ steps: [asks] }]);
      expect((await place.ralph(runScript)).code).toBe(5);
      expect((await place.ralph(['tell', '-'], { input: 'Mind the gap.\n' })).code).toBe(0);
      await place.ralph(['answer', 'E1', '--retry']);
      await place.ralph(['resume']);
      expect((await place.ralph(['logs', '--prompt'])).stdout).toContain('Mind the gap.');
    }),
  );
});

describe('where it is started', () => {
  it.concurrent(
    'B14: the root folder and the home folder need --force',
    inProject(async place => {
      const [file, script] = [join(place.project, 'PRD.json'), join(place.project, 'script.json')];
      const words = ['run', file, '--script', script];
      await refused(place, words, /An agent would work in the root folder\.\n {2}Change .*--force/, { cwd: '/' });
      const env = { HOME: place.project };
      await refused(place, words, /An agent would work in your whole home folder\.\n {2}Change .*--force/, { env });
      expect((await place.ralph([...words, '--force'], { env })).code).toBe(0);
    }),
  );

  it.concurrent(
    'B14: the inside of .git is refused, also with --force',
    inProject(async place => {
      const cwd = join(place.project, '.git', 'hooks');
      mkdirSync(cwd, { recursive: true });
      const words = ['run', '../../PRD.json', '--script', '../../script.json', '--force'];
      await refused(place, words, /lies inside \.git, where no work belongs\.\n {2}Run Ralph in/, { cwd });
    }),
  );

  it.concurrent('B14: a folder that was deleted meanwhile is named as the reason', () =>
    inScratch(async place => {
      const gone = join(place.root, 'gone');
      mkdirSync(gone);
      const script = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
      for (const words of [runScript, ['status'], ['inbox']]) {
        if (!existsSync(gone)) mkdirSync(gone);
        const ran = execute('sh', ['-c', script, 'sh', gone, pinnedNode, binary, ...words], { env: place.env });
        await expect(ran).rejects.toMatchObject({
          code: 2,
          stderr: 'ralph: The current folder does not exist any more.\n  Change to a folder that does: cd\n',
        });
      }
      expect(existsSync(place.home)).toBe(false);
    }));
});

describe('homes', () => {
  it.concurrent(
    'B15: without HOME, RALPH_HOME or an absolute XDG_DATA_HOME is enough',
    inProject(async place => {
      const env = { HOME: undefined, XDG_CONFIG_HOME: join(place.root, 'config') };
      expect((await place.ralph(runScript, { env })).code).toBe(0);
      expect(existsSync(join(place.home, 'ralph.db'))).toBe(true);
      const data = join(place.root, 'data');
      const elsewhere = { ...env, RALPH_HOME: undefined, XDG_DATA_HOME: data };
      expect((await place.ralph(runScript, { env: elsewhere })).code).toBe(0);
      expect(existsSync(join(data, 'ralph', 'ralph.db'))).toBe(true);
    }),
  );

  it.runIf(process.getuid?.() === 0 && isInstalled('setpriv') && strangersCanRead(binary))(
    'B15: with no home known at all it says so (needs root, to become an unknown user, and a clone that others can read)',
    inProject(async place => {
      chmodSync(place.root, 0o755);
      const { HOME: _home, RALPH_HOME: _ralph, ...env } = place.env;
      const user = ['--reuid', '54321', '--regid', '54321', '--clear-groups'];
      const ran = execute('setpriv', [...user, pinnedNode, binary, ...runScript], { cwd: place.project, env });
      await expect(ran).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/No home folder is known for this user; set HOME or RALPH_HOME/),
      });
    }),
  );

  it.concurrent(
    'B15: a relative RALPH_HOME is refused',
    inProject(async place => {
      const env = { RALPH_HOME: 'here' };
      await refused(place, runScript, /RALPH_HOME is a relative path; give an absolute one/, { env });
      await refused(place, ['status'], /RALPH_HOME is a relative path; give an absolute one/, { env });
    }),
  );

  it.concurrent(
    'B15: a relative XDG_DATA_HOME is ignored, as the XDG rules say, and that is said',
    inProject(async place => {
      const told = await place.ralph(runScript, { env: { RALPH_HOME: undefined, XDG_DATA_HOME: 'here' } });
      expect(told.code).toBe(0);
      expect(told.stderr).toContain('XDG_DATA_HOME is a relative path and is ignored');
      expect(existsSync(join(place.env['HOME'] ?? '', '.local', 'share', 'ralph', 'ralph.db'))).toBe(true);
    }),
  );

  it.runIf(confinementKind() !== 'none')(
    'a home that nobody can write can still be looked at; what would change it says what is wrong',
    inProject(async place => {
      expect((await place.ralph(runScript)).code).toBe(0);
      const readOnly = ['--dev-bind', '/', '/', '--ro-bind', place.home, place.home, pinnedNode, binary];
      const manner = { cwd: place.project, env: place.env };
      for (const words of [['status'], ['report'], ['loops', 'list'], ['inbox'], ['logs']])
        expect((await execute('bwrap', [...readOnly, ...words], manner)).stderr).not.toContain('ralph:');
      const stop = execute('bwrap', [...readOnly, 'stop'], manner);
      await expect(stop).rejects.toMatchObject({
        stderr: expect.stringMatching(/read-only[^\n]*\n {2}Make .* writable/),
      });
    }),
  );

  for (const [name, path] of [
    ['that is a file', (place: Scratch) => join(place.project, 'PRD.json')],
    ['in a file', (place: Scratch) => join(place.project, 'PRD.json', 'home')],
    ['where no folder can be made', () => '/proc/ralph-home'],
  ] as const) {
    it.concurrent(
      `B15: a RALPH_HOME ${name} is refused with its path and what to do`,
      inProject(async place => {
        const wanted =
          /ralph: \S+ (?:cannot be made: .*|is a file, not a folder)\n {2}.*set RALPH_HOME to a folder of yours/i;
        await refused(place, runScript, wanted, { env: { RALPH_HOME: path(place) } });
      }),
    );
  }

  it.concurrent(
    'B15: a RALPH_HOME that is a file, or in one, is no home without loops for those who only look',
    inProject(async place => {
      const file = join(place.project, 'PRD.json');
      const [isFile, inFile] = [{ RALPH_HOME: file }, { RALPH_HOME: join(file, 'home') }];
      await refused(place, ['status'], /PRD\.json is a file, not a folder\.\n {2}Set RALPH_HOME/, { env: isFile });
      await refused(place, ['inbox'], /home cannot be opened \(ENOTDIR\)\.\n {2}Set RALPH_HOME/, { env: inFile });
      expect((await place.ralph([], { env: isFile })).stdout).toContain('is a file, not a folder.');
    }),
  );

  it.concurrent(
    'B15: an unusable TMPDIR does not stop a run, and the demo says what is wrong',
    inProject(async place => {
      const env = { TMPDIR: join(place.root, 'nowhere') };
      await refused(place, ['demo', '--fast'], /No scratch folder can be made in .*\n {2}Set TMPDIR/, { env });
      expect((await place.ralph(runScript, { env })).code).toBe(0);
    }),
  );
});

describe('terminals', () => {
  const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

  it.concurrent(
    'B18: without a terminal, with TERM=dumb and LANG=C the output is plain ASCII lines',
    inProject(async place => {
      const told = await place.ralph(runScript, { env: { TERM: 'dumb', LANG: 'C' } });
      expect(told.code).toBe(0);
      expect(told.stdout + told.stderr).toMatch(/^[\n -~]*$/);
      expect(told.stderr).toContain('+ US-001 done, closed unverified');
    }),
  );

  it.concurrent(
    'B18: LC_ALL=C wins over LANG, --ascii over both',
    inProject(async place => {
      const asC = await place.ralph([...runScript, '--dry-run'], { env: { LC_ALL: 'C' } });
      const asAscii = await place.ralph([...runScript, '--dry-run', '--ascii']);
      for (const { stdout } of [asC, asAscii]) expect(stdout).toMatch(/^[\n -~]*$/);
    }),
  );

  it.concurrent(
    'B18: NO_COLOR and a pipe get no control sequence',
    inProject(async place => {
      const told = await place.ralph(runScript, { env: { NO_COLOR: '1', TERM: 'xterm-256color' } });
      expect(told.stdout + told.stderr).not.toMatch(controls);
    }),
  );

  const onTerminal = isInstalled('script') ? it.concurrent : it.skip;
  const sizes: readonly (readonly [number, number])[] = [
    [1, 1],
    [20, 5],
    [80, 24],
    [10_000, 1_000],
  ];
  for (const [columns, rows] of sizes) {
    onTerminal(
      `B18: a terminal of ${columns}x${rows} (needs \`script\`) neither breaks it nor hides the ending`,
      inProject(async place => {
        place.put('go', `stty cols ${columns} rows ${rows}\nexec "$@"\n`);
        const words = [pinnedNode, binary, ...runScript, '--yes'].map(word => `'${word}'`).join(' ');
        const env = { ...place.env, TERM: 'xterm', SHELL: '/bin/sh' };
        const { stdout } = await execute('script', ['-qec', `sh go ${words}`, '/dev/null'], {
          cwd: place.project,
          env,
        });
        expect(stdout.replace(/\s+/g, ' ')).toContain('Done: 1 of 1 task done');
      }),
    );
  }

  it.concurrent(
    'a reader that goes away early is no error',
    inProject(async place => {
      await place.ralph(runScript);
      const command = '"$1" "$2" events --json | head -n 1';
      const { stdout, stderr } = await execute('sh', ['-c', command, 'sh', pinnedNode, binary], {
        cwd: place.project,
        env: place.env,
      });
      expect(JSON.parse(stdout).type).toBe('loop.started');
      expect(stderr).toBe('');
    }),
  );
});

it(
  'F42: where a shell lets a program open too few files, that is one sentence with what to type, and nothing is begun',
  inProject(async place => {
    const run = [pinnedNode, binary, 'run', 'PRD.json', '--script', 'script.json', '--verify', 'true'];
    const order = { cwd: place.project, env: place.env };
    const told = await execute('sh', ['-c', `ulimit -n "$1"; shift; exec "$@"`, 'sh', '24', ...run], order).catch(
      error => error as { code: number; stderr: string },
    );
    expect(told).toMatchObject({ code: 2 });
    expect(told.stderr).toMatch(/^ralph: [^\n]*open[^\n]*\n {2}Type ulimit -n 1024[^\n]*\n$/);
    expect(existsSync(join(place.home, 'ralph.db'))).toBe(false);
  }),
);
