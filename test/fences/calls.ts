// Functions that one `ralph run` of one story executes, counted by V8 from source: `npm run measure -- --calls [--root DIR]`.
//
// Counted is every distinct function of a module below src/ that was entered at least once, apart from the module itself.
// Named: a declaration, a method, or an arrow that a name or a key was given; the others (callbacks) stand apart.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface CoveredFunction {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
}

export interface Called {
  /** Below src/. */
  readonly file: string;
  readonly name: string;
}

const story = {
  id: 'US-001',
  title: 'Story',
  description: '',
  acceptanceCriteria: ['done'],
  priority: 1,
  passes: false,
};
const prd = { project: 'Calls', branchName: 'main', description: 'One story', userStories: [story] };

/** A scratch repository with one story, and the fake agent that does it. */
function runOnce(root: string, scratch: string): void {
  const [home, work, coverage] = ['home', 'work', 'coverage'].map(name => join(scratch, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [home, work]) mkdirSync(folder);
  writeFileSync(join(work, 'PRD.json'), JSON.stringify(prd, null, 2));
  const options = { cwd: work, stdio: 'pipe' as const };
  const git = ['-c', 'user.name=Ralph', '-c', 'user.email=ralph@localhost'];
  execFileSync('git', ['init', '-q', '.'], options);
  execFileSync('git', ['add', '-A'], options);
  execFileSync('git', [...git, 'commit', '-q', '-m', 'Before the loop'], options);
  const agent = join(import.meta.dirname, '..', 'fixtures', 'agents', 'prd-works');
  const words = ['run', 'PRD.json', '--yes', '--agent-command', agent];
  const env = { PATH: process.env['PATH'], HOME: scratch, RALPH_HOME: home, NODE_V8_COVERAGE: coverage };
  execFileSync(process.execPath, [join(root, 'src', 'cli', 'main.ts'), ...words], { ...options, env });
}

/** The process that loaded the entry of the command line; its agents and git write files of their own. */
function coverageOf(root: string, folder: string): readonly Called[] {
  const base = pathToFileURL(`${join(root, 'src')}/`).href;
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      readonly result: readonly { readonly url: string; readonly functions: readonly CoveredFunction[] }[];
    };
    if (!result.some(({ url }) => url === `${base}cli/main.ts`)) continue;
    return result
      .filter(({ url }) => url.startsWith(base))
      .flatMap(({ url, functions }) =>
        functions
          .filter(
            ({ functionName: name, ranges: [whole] }) =>
              whole && whole.count > 0 && !(name === '' && whole.startOffset === 0),
          )
          .map(({ functionName: name }) => ({ file: url.slice(base.length), name })),
      );
  }
  throw new Error('the run left no coverage');
}

export function calledFunctions(root: string): readonly Called[] {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-calls-')));
  try {
    runOnce(root, scratch);
    return coverageOf(root, join(scratch, 'coverage'));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** By room, named and anonymous; `app + cli` is the row that is bounded. */
export function callRows(called: readonly Called[]): readonly (readonly [string, number, number, number])[] {
  const row = (name: string, isIn: (room: string) => boolean) => {
    const own = called.filter(({ file }) => isIn(file.split('/')[0] ?? ''));
    const named = own.filter(one => one.name !== '').length;
    return [name, new Set(own.map(one => one.file)).size, named, own.length - named] as const;
  };
  const rooms = [...new Set(called.map(({ file }) => file.split('/')[0] ?? ''))].toSorted();
  return [
    ...rooms.map(room => row(room, one => one === room)),
    row('app + cli', one => one === 'app' || one === 'cli'),
    row('all', () => true),
  ];
}
