// Reads from a check's command line which files of the project are the check itself, and which scripts of a manifest it runs.

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

/** The simple commands of a line as their words, quotes taken away. Redirections are left out. */
export function simpleCommands(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  let quote = '';
  let isTarget = false;
  const endWord = (): void => {
    if (word !== undefined && !isTarget) commands.at(-1)?.push(word);
    if (word !== undefined) isTarget = false;
    word = undefined;
  };
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at] as string;
    if (quote !== '' && letter === quote) quote = '';
    else if (quote === "'" || (quote === '"' && letter !== '\\')) word = `${word ?? ''}${letter}`;
    else if (letter === '\\') {
      at += 1;
      word = `${word ?? ''}${line[at] ?? ''}`;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= '';
    } else if (letter === '>' || letter === '<') {
      if (/^\d*$/.test(word ?? '')) word = undefined;
      endWord();
      isTarget = true;
      if (line[at + 1] === '&' || line[at + 1] === '>') at += 1;
    } else if (';&|()\n`'.includes(letter)) {
      endWord();
      isTarget = false;
      commands.push([]);
    } else if (letter === ' ' || letter === '\t') endWord();
    else word = `${word ?? ''}${letter}`;
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

const isShell = (program: string): boolean => interpreters[0]?.names.test(baseName(program)) === true;

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function scriptsOf(words: readonly string[]): readonly string[] {
  const [program = '', ...args] = withoutWrappers(words);
  const interpreter = interpreters.find(one => one.names.test(program === '.' ? '.' : baseName(program)));
  if (interpreter === undefined) return program.includes('/') ? [program] : [];
  const scripts: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as string;
    if (interpreter.code.has(word))
      return isShell(program) ? [...scripts, ...checkScripts(args[at + 1] ?? '')] : scripts;
    const value = word.startsWith('-') ? word.indexOf('=') : -1;
    if (value !== -1) scripts.push(word.slice(value + 1));
    else if (interpreter.valued.has(word)) {
      at += 1;
      if (args[at] !== undefined) scripts.push(args[at] as string);
    } else if (!word.startsWith('-') && !word.startsWith('+') && !subcommands.has(word)) return [...scripts, word];
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

/** The targets that a command line makes. */
export function makeRuns(line: string): readonly MakeRun[] {
  return stepsOf(line).flatMap(({ folder, words }) => {
    const [program = '', ...args] = words;
    if (!/^(g|b)?make$|^\$[({]MAKE[)}]$/.test(baseName(program))) return [];
    let place = folder;
    const files: string[] = [];
    const targets: string[] = [];
    for (let at = 0; at < args.length; at += 1) {
      const word = args[at] as string;
      const [, option = word, joined] = /^(--\w+)=(.*)$/.exec(word) ?? /^(-[Cf])(.+)$/.exec(word) ?? [];
      const isNumbered = option === '-j' || option === '-l';
      const value =
        joined ?? (makeValued.has(option) && !(isNumbered && !/^\d/.test(args[at + 1] ?? '')) ? args[++at] : undefined);
      if (/^(-C|--directory)$/.test(option)) place = `${place}/${value ?? '.'}`;
      else if (/^(-f|--file|--makefile)$/.test(option)) files.push(value ?? '');
      else if (!word.startsWith('-') && !word.includes('=')) targets.push(word);
    }
    const names = files.length > 0 ? files : ['GNUmakefile', 'makefile', 'Makefile'];
    return { targets, files: names.map(name => within(place, name)) };
  });
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
  return (
    lines.length === 0 ||
    lines.some(
      line =>
        checkScripts(line).length > 0 ||
        stepsOf(line).some(({ words: [program = ''] }) => {
          const name = baseName(program);
          return taskRunners.test(name) || other.test(name);
        }),
    )
  );
}
