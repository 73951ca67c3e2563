// Command lines of checks: the files of the project, the package scripts and the make targets that one runs.
import { baseName } from './source-files.ts';

interface Interpreter {
  readonly names: RegExp;
  /** What follows is code or a module, no file. */
  readonly code: ReadonlySet<string>;
  /** Options whose next word is their value. */
  readonly valued: ReadonlySet<string>;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const interpreters: readonly Interpreter[] = [
  { names: /^(sh|bash|dash|zsh|ksh|fish|source|\.)$/, code: set('-c'), valued: set('-o +o --rcfile --init-file') },
  {
    names: /^(node|nodejs|bun|deno|tsx|ts-node)$/,
    code: set('-e --eval -p --print'),
    valued: set('-r --require --import --loader --experimental-loader --env-file -C --conditions -c --config'),
  },
  { names: /^python(\d(\.\d+)?)?$/, code: set('-c -m'), valued: set('-W -X') },
  { names: /^(ruby|perl|lua|Rscript)$/, code: set('-e'), valued: set('-I -r -C') },
  { names: /^php$/, code: set('-r'), valued: set('-c -d') },
];

const wrappers = set('env time nice nohup exec command sudo xvfb-run stdbuf if elif while until then else do ! {');
const subcommands = set('run test x');

/** Single quotes, double quotes, an escaped character, a redirection, a separator, blanks, anything else. */
const pieces =
  /'([^']*)'?|"((?:[^"\\]+|\\[\s\S]?)*)"?|\\([\s\S]?)|([<>][&>]?)|([;&|()\n`])|[ \t]+|([^'"\\<>;&|()\n` \t]+)/g;

/** The simple commands of a line as their words, quotes taken away. Redirections are left out. */
export function simpleCommands(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  let isTarget = false;
  const endWord = (): void => {
    if (word === undefined) return;
    if (!isTarget) commands.at(-1)?.push(word);
    isTarget = false;
    word = undefined;
  };
  for (const [, single, double, escaped, redirection, separator, plain] of line.matchAll(pieces)) {
    const text = single ?? double?.replace(/\\([\s\S]?)/g, '$1') ?? escaped ?? plain;
    if (text !== undefined) {
      word = `${word ?? ''}${text}`;
      continue;
    }
    if (redirection !== undefined && /^\d*$/.test(word ?? '')) word = undefined;
    endWord();
    isTarget = redirection !== undefined || (isTarget && separator === undefined);
    if (separator !== undefined) commands.push([]);
  }
  endWord();
  return commands.filter(words => words.length > 0);
}

/** Without assignments and programs that only start another: `CI=1 timeout 60 ./check` is `./check`. */
function withoutWrappers(words: readonly string[]): readonly string[] {
  let at = 0;
  while (at < words.length) {
    const word = words[at] as string;
    if (/^[A-Za-z_]\w*=/.test(word) || wrappers.has(word)) at += 1;
    else if (word === 'timeout') {
      at += 1;
      while (words[at]?.startsWith('-')) at += /^-[ks]$/.test(words[at] as string) ? 2 : 1;
      at += 1;
    } else break;
  }
  return words.slice(at);
}

function scriptsOf([program = '', ...args]: readonly string[]): readonly string[] {
  const interpreter = interpreters.find(one => one.names.test(baseName(program)));
  if (interpreter !== undefined) return interpreted(interpreter, args);
  return program.includes('/') ? [program] : [];
}

function interpreted(interpreter: Interpreter, args: readonly string[]): readonly string[] {
  const scripts: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as string;
    const [, joined] = /^-[^=]*=([\s\S]*)$/.exec(word) ?? [];
    if (interpreter.code.has(word))
      return interpreter === interpreters[0] ? [...scripts, ...checkScripts(args[at + 1] ?? '')] : scripts;
    if (joined !== undefined) scripts.push(joined);
    else if (interpreter.valued.has(word)) {
      at += 1;
      scripts.push(...args.slice(at, at + 1));
    } else if (!/^[-+]/.test(word) && !subcommands.has(word)) return [...scripts, word];
  }
  return scripts;
}

/** `scripts/../check.sh` -> `check.sh`; a path that leaves the folder keeps its `..`. */
function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else parts.push(part);
  }
  return `${path.startsWith('/') ? '/' : ''}${parts.join('/')}`;
}

interface Step {
  /** Where it runs, seen from where the line runs. */
  readonly folder: string;
  readonly words: readonly string[];
}

/** The simple commands of a line, each with the folder into which the line went before it. */
function stepsOf(line: string): readonly Step[] {
  const steps: Step[] = [];
  let folder = '.';
  for (const words of simpleCommands(line)) {
    const [program, target] = words;
    if (program === 'cd' && target !== undefined) folder = target.startsWith('/') ? target : `${folder}/${target}`;
    else steps.push({ folder, words: withoutWrappers(words) });
  }
  return steps;
}

const within = (folder: string, path: string): string => normal(path.startsWith('/') ? path : `${folder}/${path}`);

/**
 * The files that a command line runs: programs given as a path, and scripts given to an interpreter. Not its other
 * arguments: in `grep -q yes answer.txt` the answer is the work, not the check. Whether they exist is for others to see.
 */
export function checkScripts(line: string): readonly string[] {
  const found = stepsOf(line).flatMap(({ folder, words }) => scriptsOf(words).map(script => within(folder, script)));
  return [...new Set(found)].filter(path => path !== '');
}

interface ManifestRun {
  readonly names: readonly string[];
  /** Where its package.json may be. */
  readonly folders: readonly string[];
  /** It runs the scripts of other packages too. */
  readonly isEverywhere: boolean;
}

const everywhere = /^(-w|-ws|-r|--workspaces?(=.*)?|--recursive|--filter(=.*)?|workspaces?|turbo|nx|lerna)$/;

/** What a command line runs from a package.json, or from several. */
export function manifestRuns(line: string): readonly ManifestRun[] {
  return stepsOf(line).flatMap(({ folder, words }) => {
    const [program = '', ...args] = words;
    if (!/^(npm|pnpm|yarn|bun|run-s|run-p|npm-run-all|npx|turbo|nx|lerna)$/.test(program)) return [];
    const end = args.indexOf('--');
    const own = (end === -1 ? args : args.slice(0, end)).map(word => word.replace(/^--(prefix|cwd|dir)=/, ''));
    const named = own.filter(word => !word.startsWith('-') && word !== 'run' && word !== 'run-script');
    const names = named.map(name => (name === 't' || name === 'tst' ? 'test' : name.replace(/^npm:/, '')));
    return {
      names: names.flatMap(name => [name, `pre${name}`, `post${name}`]),
      folders: [normal(folder), ...names.map(name => within(folder, name))],
      isEverywhere: words.some(word => everywhere.test(word)),
    };
  });
}

/** Names of the package.json scripts that a command line runs. */
export const manifestScripts = (line: string): readonly string[] => manifestRuns(line).flatMap(run => run.names);

interface MakeRun {
  /** None: the first target of the file. */
  readonly targets: readonly string[];
  /** The files that may hold them, in the order in which make looks for them. */
  readonly files: readonly string[];
}

const makeValued = set('-C --directory -f --file --makefile -I -j -l -o -W');

/** The number of -j and -l may be missing. */
const takesValue = (option: string, next = ''): boolean =>
  makeValued.has(option) && (!/^-[jl]$/.test(option) || /^\d/.test(next));

/** The targets that a command line makes. */
export function makeRuns(line: string): readonly MakeRun[] {
  return stepsOf(line).flatMap(({ folder, words: [program = '', ...args] }) =>
    /^(g|b)?make$|^\$[({]MAKE[)}]$/.test(baseName(program)) ? [makeRun(folder, args)] : [],
  );
}

function makeRun(folder: string, args: readonly string[]): MakeRun {
  let place = folder;
  const files: string[] = [];
  const targets: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as string;
    const [, option = word, joined] = /^(--\w+)=(.*)$/.exec(word) ?? /^(-[Cf])(.+)$/.exec(word) ?? [];
    const value = joined ?? (takesValue(option, args[at + 1]) ? args[++at] : undefined);
    if (/^(-C|--directory)$/.test(option)) place = `${place}/${value ?? '.'}`;
    else if (/^(-f|--file|--makefile)$/.test(option)) files.push(value ?? '');
    else if (!word.startsWith('-') && !word.includes('=')) targets.push(word);
  }
  const names = files.length > 0 ? files : ['GNUmakefile', 'makefile', 'Makefile'];
  return { targets, files: names.map(name => within(place, name)) };
}

/** The modules that a command line gives to Python's -m, as paths without an ending. */
export function pythonModules(line: string): readonly string[] {
  return stepsOf(line).flatMap(({ folder, words }) => {
    const at = words.indexOf('-m');
    const name = words[at + 1];
    if (at < 1 || name === undefined || !/^python(\d(\.\d+)?)?$/.test(baseName(words[0] as string))) return [];
    return [within(folder, name.replaceAll('.', '/'))];
  });
}

const taskRunners = /^(just|task|rake|tox|nox|ant|gradlew?|turbo|nx|lerna|bazel|mvnw?)$/;

/** A check runs something that may run what this file names, unseen; without checks that cannot be ruled out. */
export function isIndirect(lines: readonly string[], file: 'manifest' | 'makefile'): boolean {
  const other = file === 'manifest' ? /^g?make$/ : /^(npm|pnpm|yarn|bun)$/;
  const runsOther = ({ words: [program = ''] }: Step): boolean =>
    taskRunners.test(baseName(program)) || other.test(baseName(program));
  return lines.length === 0 || lines.some(line => checkScripts(line).length > 0 || stepsOf(line).some(runsOther));
}
