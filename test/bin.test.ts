// bin/ralph finds the right Node and the right code from anywhere, and stands in for its child in life and death.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const repository = join(import.meta.dirname, '..');
const pinned = join(repository, 'node_modules', 'node', 'bin', 'node');
const old = findOldNode();
const script = (process.env['PATH'] ?? '').split(delimiter).some(folder => existsSync(join(folder, 'script')));

/** The stand-in for the CLI: says where it runs, then does what its first argument names. */
const program = `
const say = (...words) => console.log(...words);
const hold = setInterval(() => {}, 1000);
const tell = (words, code) => { say(words); process.exitCode = code; clearInterval(hold); process.channel?.unref(); };
let interrupts = 0;
const deeds = {
  where: () => tell('stand-in on ' + process.versions.node + ' wrapped ' + process.env.RALPH_WRAPPER, 0),
  fail: () => tell('failing', 7),
  limit: () => tell('at a limit', 3),
  settle: () => {
    process.emit('ralph-settled');
    process.getBuiltinModule('v8').setFlagsFromString('--semi-space-growth-factor=1');
    tell('settled', 7);
  },
  die: () => process.kill(process.pid, 'SIGKILL'),
  wait: () => {
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']) {
      process.on(name, () => { tell('got ' + name, 43); process.removeAllListeners('disconnect'); });
    }
    process.on('disconnect', () => tell('wrapper gone', 0));
    say('ready');
  },
  listen: () => {
    process.on('SIGINT', () => say('own SIGINT'));
    process.on('message', message => { tell('told ' + message.signal, 0); process.disconnect(); });
    say('ready below ' + process.ppid);
  },
  count: () => {
    process.on('SIGINT', () => say('interrupts ' + ++interrupts));
    process.on('SIGUSR2', () => tell('in all ' + interrupts, 0));
    say('ready below ' + process.ppid);
  },
};
deeds[process.argv[2]]();
`;

let folder: string;
let checkout: string;
let ralph: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-bin-')));
  checkout = join(folder, 'checkout');
  ralph = join(checkout, 'bin', 'ralph');
  put('package.json', '{ "type": "module", "version": "7.8.9" }');
  put('dist/ralph.cjs', program);
  mkdirSync(dirname(ralph));
  copyFileSync(join(repository, 'bin', 'package.json'), join(checkout, 'bin', 'package.json'));
  copyFileSync(join(repository, 'bin', 'ralph'), ralph);
  mkdirSync(join(checkout, 'node_modules', 'node', 'bin'), { recursive: true });
  symlinkSync(pinned, join(checkout, 'node_modules', 'node', 'bin', 'node'));
});

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

describe('bin/ralph on a Node that is new enough', () => {
  it('runs the bundle from another folder and through a symlink, without a wrapper', () => {
    symlinkSync(ralph, join(folder, 'link'));
    for (const path of [ralph, join(folder, 'link')]) {
      expect(run(pinned, path, 'where')).toEqual({
        code: 0,
        out: `stand-in on ${version(pinned)} wrapped undefined\n`,
      });
    }
  });

  it('runs whether Node takes it for a module or for CommonJS', () => {
    rmSync(join(checkout, 'bin', 'package.json'));
    expect(run(pinned, ralph, 'where').code).toBe(0);
  });

  it('runs the source when a file of it is newer than the bundle, else the bundle', () => {
    put('src/cli/main.ts', "const words: string = 'from source';\nconsole.log(words);\n");
    age('dist/ralph.cjs', 1000);
    expect(run(pinned, ralph, 'where').out).toBe('from source\n');
    for (const path of ['src/cli/main.ts', 'src/cli', 'src']) age(path, 2000);
    expect(run(pinned, ralph, 'where').out).toContain('stand-in');
  });

  it('runs the source when there is no bundle, and hides only the warning that SQLite is young', () => {
    rmSync(join(checkout, 'dist'), { recursive: true });
    put('src/cli/main.ts', "await import('node:sqlite');\nprocess.emitWarning('mind this');\n");
    const { code, error } = run(pinned, ralph);
    expect(code).toBe(0);
    expect(error).toContain('mind this');
    expect(error).not.toContain('SQLite');
  });

  it('says in one line what to do when there is neither', () => {
    rmSync(join(checkout, 'dist'), { recursive: true });
    const { code, error } = run(pinned, ralph);
    expect(code).toBe(2);
    expect(error).toMatch(/^ralph is not built here: run `npm start`.*\n$/);
  });

  it('says the version without loading the bundle', () => {
    put('dist/ralph.cjs', "throw new Error('loaded');");
    for (const word of ['--version', '-V', '-v', 'version'])
      for (const node of [pinned, old ?? pinned]) expect(run(node, ralph, word)).toEqual({ code: 0, out: '7.8.9\n' });
  });

  it('keeps what V8 compiled for a command that ended well, and takes it up until the bundle is another one', () => {
    put('dist/ralph.cjs', signed(program));
    expect(run(pinned, ralph, 'fail').code).toBe(7);
    expect(existsSync(join(checkout, 'dist', 'cache'))).toBe(false);
    expect(run(pinned, ralph, 'where').code).toBe(0);
    const [name = ''] = compiled();
    expect(name).toMatch(/^[0-9a-f]{16}-v.*-where$/);
    const { ino } = statSync(join(checkout, 'dist', 'cache', name));
    expect(run(pinned, ralph, 'where').out).toContain('stand-in');
    expect(statSync(join(checkout, 'dist', 'cache', name)).ino).toBe(ino); // what is refused is written anew
    put('dist/ralph.cjs', signed(program.replace('stand-in', 'stand-by')));
    expect(run(pinned, ralph, 'where').out).toContain('stand-by');
    expect(compiled()).toHaveLength(2);
  });

  it('keeps it as well when a loop ends at a limit, and when it is at work, before flags of V8 are changed', () => {
    put('dist/ralph.cjs', signed(program));
    for (const [word, code] of [
      ['limit', 3],
      ['settle', 7],
    ] as const) {
      expect(run(pinned, ralph, word, '--help').code).toBe(code); // apart: it says little about the command
      expect(run(pinned, ralph, word).code).toBe(code);
      const name = compiled().find(one => one.endsWith(word)) ?? '';
      const { ino } = statSync(join(checkout, 'dist', 'cache', name));
      expect(run(pinned, ralph, word).code).toBe(code);
      expect(statSync(join(checkout, 'dist', 'cache', name)).ino).toBe(ino);
    }
    expect(compiled()).toHaveLength(3);
  });

  it('keeps what help needs apart from what a dry run needs, which is more', () => {
    put('dist/ralph.cjs', signed(program));
    for (const words of [['where', '--dry-run'], ['--help'], ['where', '-h']]) run(pinned, ralph, ...words);
    expect(
      compiled()
        .map(name => name.split('-').at(-1))
        .sort(),
    ).toEqual(['help', 'other']);
  });

  it('runs without what was compiled where that is damaged, where flags change the code, and where nothing can be written', () => {
    put('dist/ralph.cjs', signed(program));
    run(pinned, ralph, 'where');
    const [name = ''] = compiled();
    put(`dist/cache/${name}`, 'half of it');
    expect(run(pinned, ralph, 'where').out).toContain('stand-in');
    expect(statSync(join(checkout, 'dist', 'cache', name)).size).toBeGreaterThan(1000);
    rmSync(join(checkout, 'dist', 'cache'), { recursive: true });
    expect(run(pinned, '--stack-size=900', ralph, 'where').out).toContain('stand-in');
    expect(existsSync(join(checkout, 'dist', 'cache'))).toBe(false);
    put('dist/cache', 'a file where the folder would be');
    expect(run(pinned, ralph, 'where')).toEqual({ code: 0, out: expect.stringContaining('stand-in') });
  });

  it('ends with an error when the bundle is broken', () => {
    put('dist/ralph.cjs', "throw new Error('broken');");
    expect(run(pinned, ralph).code).toBe(1);
  });
});

const why = old === undefined ? ' (skipped: this machine has no Node older than 22.18)' : '';

describe.skipIf(old === undefined)(`bin/ralph on a Node that is too old${why}`, () => {
  it('runs again with the pinned Node, from another folder and through a symlink', () => {
    symlinkSync(ralph, join(folder, 'link'));
    for (const path of [ralph, join(folder, 'link')]) {
      expect(run(old!, path, 'where')).toEqual({ code: 0, out: `stand-in on ${version(pinned)} wrapped 1\n` });
    }
  });

  it('passes on the exit code', () => {
    expect(run(old!, ralph, 'fail').code).toBe(7);
  });

  it('dies of the signal that its child died of', () => {
    expect(run(old!, ralph, 'die').signal).toBe('SIGKILL');
  });

  it('says in one line which Node it needs when there is no pinned one', () => {
    rmSync(join(checkout, 'node_modules'), { recursive: true });
    const { code, error } = run(old!, ralph, 'where');
    expect(code).toBe(2);
    expect(error).toMatch(
      `ralph needs Node 22.18 or newer, and this is Node ${version(old!)}: install a newer one, or run \`npm start\``,
    );
    expect(error?.split('\n')).toHaveLength(2);
  });

  it('gives up instead of turning in circles when the pinned Node is too old as well', () => {
    rmSync(join(checkout, 'node_modules', 'node', 'bin', 'node'));
    symlinkSync(old!, join(checkout, 'node_modules', 'node', 'bin', 'node'));
    expect(run(old!, ralph, 'where')).toMatchObject({
      code: 2,
      error: expect.stringContaining('needs Node 22.18'),
    });
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const)(
    'hands %s to its child and ends as the child does',
    async signal => {
      const { child, next } = start(old!, [ralph, 'wait']);
      expect(await next()).toBe('ready');
      child.kill(signal);
      expect(await next()).toBe(`got ${signal}`);
      expect((await once(child, 'exit'))[0]).toBe(43);
    },
  );

  it('is missed by its child when it is killed', async () => {
    const { child, next } = start(old!, [ralph, 'wait']);
    expect(await next()).toBe('ready');
    child.kill('SIGKILL');
    expect(await next()).toBe('wrapper gone');
    expect(await next()).toBeUndefined();
  });

  it.skipIf(!script)('tells its child of a SIGINT that on a terminal was sent to it alone', async () => {
    const { next } = start('script', ['-qfec', `'${old}' '${ralph}' listen`, '/dev/null']);
    const [, wrapper] = (await next())!.split('ready below ');
    process.kill(Number(wrapper), 'SIGINT');
    expect(await next()).toContain('told SIGINT');
  });

  it.skipIf(!script)('does not double a Ctrl-C that the terminal has given to both', async () => {
    const { child, next } = start('script', ['-qfec', `'${old}' '${ralph}' count`, '/dev/null']);
    const [, wrapper] = (await next())!.split('ready below ');
    child.stdin!.write('\x03');
    expect(await next()).toContain('interrupts 1');
    // The wrapper works its signals off in order: once this one came through, its SIGINT is dealt with.
    process.kill(Number(wrapper), 'SIGUSR2');
    expect(await next()).toContain('in all 1');
  });
});

function findOldNode(): string | undefined {
  const found = (process.env['PATH'] ?? '').split(delimiter).map(path => join(path, 'node'));
  return found.find(path => {
    const [major, minor] = existsSync(path) ? version(path).split('.').map(Number) : [];
    return major !== undefined && minor !== undefined && (major < 22 || (major === 22 && minor < 18));
  });
}

function version(node: string): string {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim().slice(1);
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(checkout, path)), { recursive: true });
  writeFileSync(join(checkout, path), text);
}

/** As the build writes it. */
const signed = (text: string): string => `${text}// ${createHash('sha256').update(text).digest('hex').slice(0, 16)}\n`;

const compiled = (): readonly string[] => readdirSync(join(checkout, 'dist', 'cache'));

/** Makes a file look as if it had last changed so many minutes ago. */
function age(path: string, minutes: number): void {
  const at = new Date(Date.now() - minutes * 60_000);
  utimesSync(join(checkout, path), at, at);
}

function run(node: string, ...args: string[]) {
  const result = spawnSync(node, args, { cwd: folder, env: cleanEnvironment(), encoding: 'utf8' });
  const { status: code, signal, stdout: out, stderr: error } = result;
  return { code, out, ...(signal === null ? {} : { signal }), ...(error === '' ? {} : { error }) };
}

function start(command: string, args: string[]) {
  const child = spawn(command, args, { cwd: folder, env: cleanEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] });
  started.push(child);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const next = async (): Promise<string | undefined> => (await lines.next()).value;
  return { child, next };
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const { RALPH_WRAPPER: _wrapper, NODE_OPTIONS: _options, ...rest } = process.env;
  return rest;
}
