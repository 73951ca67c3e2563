// Command lines of checks: the files of the project, the package scripts and the make targets that one runs.
import { isPattern } from '../../text/patterns.ts';
import {
  isUnknown,
  LineVariables,
  plainWords,
  readLine,
  type ShellLine,
  type SimpleCommand,
  shownWord,
  soleSubstitution,
  unquoted,
} from './shell-words.ts';
import { baseName } from './source-files.ts';

type Variables = Readonly<Record<string, string | undefined>>;

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

/** Programs that only start another: their options with a value, and how many words of their own follow. */
interface Launcher {
  readonly names: RegExp;
  /** The words that follow the name: `uv run`. */
  readonly verb?: RegExp;
  readonly valued?: ReadonlySet<string>;
  readonly operands?: number;
  /** It puts names that only show when it runs behind the words of the other. */
  readonly addsNames?: true;
}

const launchers: readonly Launcher[] = [
  { names: /^(exec|command|builtin|if|elif|while|until|then|else|do|!|\{|time)$/ },
  { names: /^(nice|nohup|setsid|ionice|chrt)$/, valued: set('-n --adjustment -c') },
  { names: /^env$/, valued: set('-u --unset -C --chdir') },
  { names: /^sudo$/, valued: set('-u -g -C') },
  { names: /^stdbuf$/, valued: set('-i -o -e') },
  { names: /^xvfb-run$/, valued: set('-s -n -e -f -p') },
  { names: /^timeout$/, valued: set('-k -s --kill-after --signal'), operands: 1 },
  { names: /^(xargs|parallel)$/, valued: set('-n -I -P -L -d -a -s -j'), addsNames: true },
  { names: /^(npx|bunx|dotenv)$/, valued: set('-p --package -e') },
  { names: /^(uv|poetry|pipenv|pdm|hatch|rye)$/, verb: /^run$/ },
  { names: /^(pnpm|yarn|npm|bundle|mise|rbenv|pyenv|asdf)$/, verb: /^(exec|x)$/ },
];
const subcommands = set('run test x');

/** The simple commands of a line as their words, quotes taken away; those of substitutions too. Redirections are left out. */
export function simpleCommands(line: string): readonly (readonly string[])[] {
  const { commands, substitutions } = readLine(line);
  return [...commands.map(plainWords), ...substitutions.flatMap(simpleCommands)].filter(words => words.length > 0);
}

interface Launched {
  readonly words: readonly string[];
  readonly addsNames: boolean;
}

const launcherAt = ([name = '', verb = '']: readonly string[]): Launcher | undefined =>
  launchers.find(one => one.names.test(name) && one.verb?.test(verb) !== false);

/** How many words such a program takes for itself. */
function ownWords({ verb, valued, operands = 0 }: Launcher, words: readonly string[]): number {
  let at = verb === undefined ? 1 : 2;
  while (words[at]?.startsWith('-')) at += valued?.has(words[at] as string) ? 2 : 1;
  return at + operands;
}

/** Without assignments and programs that only start another: `CI=1 timeout 60 ./check` is `./check`. */
function launched(words: readonly string[]): Launched {
  let rest = words;
  let addsNames = false;
  while (rest.length > 0) {
    const launcher = launcherAt(rest);
    if (launcher === undefined && !/^[A-Za-z_]\w*=/.test(rest[0] as string)) break;
    addsNames ||= launcher?.addsNames === true;
    rest = rest.slice(launcher === undefined ? 1 : ownWords(launcher, rest));
  }
  return { words: rest, addsNames };
}

/** A file that a command line runs, seen from where the line runs. */
interface Script {
  /** May hold `*` and the like: then every file that fits. */
  readonly path: string;
  /** Of the files that fit, the first is run and the others are its arguments. */
  readonly takesFirst?: true;
  /** Which one only shows when it runs. */
  readonly isUnknown?: true;
}

const unknownScript = (word: string): Script => ({ path: shownWord(word), isUnknown: true });

/** What an interpreter is given to run. */
interface Interpreted {
  /** Words that name a file. */
  readonly words: readonly string[];
  /** Words that are code. */
  readonly code: readonly string[];
  /** It runs what comes as its input. */
  readonly readsInput: boolean;
}

const isCodeOption = (interpreter: Interpreter, word: string): boolean =>
  interpreter.code.has(word) || (interpreter === interpreters[0] && /^-\w*c$/.test(word));

const isInput = (word: string): boolean => /^(-|-s|\/dev\/stdin)$/.test(word);
const isQuestion = (word: string): boolean => /^(-V|-h|--version|--help)$/.test(word);

function interpreted(interpreter: Interpreter, args: readonly string[]): Interpreted {
  const words: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as string;
    const [, joined] = /^-[^=]*=([\s\S]*)$/.exec(word) ?? [];
    if (isCodeOption(interpreter, word)) return { words, code: args.slice(at + 1, at + 2), readsInput: false };
    if (isInput(word)) break;
    if (joined !== undefined) words.push(joined);
    else if (interpreter.valued.has(word)) {
      at += 1;
      words.push(...args.slice(at, at + 1));
    } else if (!/^[-+]/.test(word) && !subcommands.has(word))
      return { words: [...words, word], code: [], readsInput: false };
  }
  return { words, code: [], readsInput: !args.some(isQuestion) };
}

/** Programs that pass text on; where they get it from are their operands. */
const feeds =
  /^(cat|sed|awk|gawk|perl|grep|egrep|tr|cut|head|tail|sort|uniq|envsubst|tee|base64|zcat|gunzip|xz|dos2unix)$/;
const says = /^(echo|printf)$/;
const fetches = /^(curl|wget)$/;

/** Reads one command line: its scripts, with the folder into which it went before each. */
class LineReader {
  readonly #line: ShellLine;
  readonly #variables: LineVariables;
  readonly #environment: Variables;

  constructor(line: string, environment: Variables) {
    this.#line = readLine(line);
    this.#environment = environment;
    this.#variables = new LineVariables(environment);
  }

  scripts(): readonly Script[] {
    const steps = this.#steps();
    const own = steps.flatMap(({ folder, command }) =>
      this.#scriptsOf(command).map(script => inFolder(folder, script)),
    );
    const nested = this.#line.substitutions.flatMap(inner => scriptsIn(inner, this.#environment));
    return [...own, ...nested];
  }

  /** The simple commands, each with the folder into which the line went before it. */
  #steps(): readonly { readonly folder: string; readonly command: SimpleCommand }[] {
    const folders = ['.'];
    return this.#line.commands.flatMap(command => {
      while (folders.length > command.depth + 1) folders.pop();
      while (folders.length <= command.depth) folders.push(folders.at(-1) as string);
      const { words } = launched(command.words);
      this.#variables.note(command.words);
      this.#variables.note(words);
      const [program, target] = words;
      if (program !== 'cd' || target === undefined) return [{ folder: folders.at(-1) as string, command }];
      const to = this.#variables.values(target)[0] ?? target;
      folders[folders.length - 1] = to.startsWith('/') || isUnknown(to) ? to : `${folders.at(-1)}/${to}`;
      return [];
    });
  }

  #scriptsOf(command: SimpleCommand): readonly Script[] {
    const { words, addsNames } = launched(command.words);
    const [program = '', ...args] = words.flatMap(word => this.#variables.values(word)).filter(word => word !== '');
    if (program === 'eval') return this.#codes([args.join(' ')]);
    if (program === 'find') return this.#found(args);
    const interpreter = interpreters.find(one => one.names.test(baseName(unquoted(program))));
    if (interpreter === undefined) {
      if (isUnknown(program) && soleSubstitution(program, this.#line) === undefined) return [unknownScript(program)];
      if (isUnknown(program)) return this.#codes([program]);
      return program.includes('/') ? [scriptOf(program)] : [];
    }
    // Of `for x in a b`, both are run.
    const named = this.#loops(launched(command.words).words.slice(1), interpreter) ?? interpreted(interpreter, args);
    const scripts = named.words.flatMap(word => this.#file(word));
    const known = [...scripts, ...this.#codes(interpreter === interpreters[0] ? named.code : [])];
    if (!named.readsInput) return known;
    return [...known, ...this.#input(command), ...(addsNames ? [unknownScript('xargs')] : [])];
  }

  /** Words of an interpreter whose script is a variable: it may stand for several, one after the other. */
  #loops(args: readonly string[], interpreter: Interpreter): Interpreted | undefined {
    const named = interpreted(interpreter, args);
    const script = named.words.at(-1);
    if (script === undefined || !script.includes('$') || named.code.length > 0) return undefined;
    const values = this.#variables.values(script).filter(value => value !== '');
    return values.length === 0 ? undefined : { ...named, words: [...named.words.slice(0, -1), ...values.map(each)] };
  }

  #file(word: string): readonly Script[] {
    const inner = soleSubstitution(word, this.#line);
    if (inner !== undefined) return fileSources(inner) ?? [unknownScript(word)];
    return isUnknown(word) ? [unknownScript(word)] : [scriptOf(word)];
  }

  #codes(codes: readonly string[]): readonly Script[] {
    return codes.flatMap(code => {
      const inner = soleSubstitution(code.trim(), this.#line);
      if (inner !== undefined) return fileSources(inner) ?? [unknownScript(code)];
      return scriptsIn(unquoted(code), this.#environment);
    });
  }

  /** What a command that runs its input gets there. */
  #input(command: SimpleCommand): readonly Script[] {
    const files = command.inputs.flatMap(word => this.#variables.values(word)).flatMap(word => this.#file(word));
    const fed = command.feeders.flatMap(feeder => this.#fed(feeder));
    return [...files, ...command.given.flatMap(text => scriptsIn(text, this.#environment)), ...fed];
  }

  #fed(feeder: SimpleCommand): readonly Script[] {
    const [program = '', ...args] = launched(feeder.words).words.flatMap(word => this.#variables.values(word));
    if (says.test(program)) return this.#codes([args.filter(word => !/^-\w$/.test(word)).join(' ')]);
    const operands = args.filter(word => !word.startsWith('-')).flatMap(word => this.#file(word));
    if (feeds.test(program)) return [...operands, ...this.#input(feeder)];
    const isKnown = fetches.test(program) || this.#scriptsOf(feeder).length > 0 || program === '';
    return isKnown ? [] : [unknownScript(`${program} … |`)];
  }

  /** `find … -exec sh {} ;` */
  #found(args: readonly string[]): readonly Script[] {
    const at = args.findIndex(word => /^-(exec|execdir|ok)$/.test(unquoted(word)));
    if (at === -1) return [];
    const words = args.slice(at + 1).map(word => (unquoted(word) === '{}' ? '$1' : word));
    return this.#scriptsOf({ words, inputs: [], given: [], feeders: [], depth: 0 });
  }
}

const each = (value: string): string => `${eachMark}${value}`;
const eachMark = '\ue020'; // a loop runs every file that fits, not the first alone

function scriptOf(word: string): Script {
  const isLoop = word.startsWith(eachMark);
  const path = isLoop ? word.slice(1) : word;
  const takesFirst = !isLoop && isPattern(path) ? (true as const) : undefined;
  return takesFirst === undefined ? { path: unquotedPath(path) } : { path: unquotedPath(path), takesFirst };
}

/** A pattern stays one; what was quoted in it is no part of it. */
const unquotedPath = (path: string): string =>
  isPattern(path) ? path.replace(/[\ue001-\ue005]/g, '?') : unquoted(path);

/** `cat x` says what is in x; undefined when what a line says does not come from files that it names. */
function fileSources(line: string): readonly Script[] | undefined {
  const { commands } = readLine(line);
  const [command, ...more] = commands;
  const [program = '', ...args] = command?.words ?? [];
  if (command === undefined || more.length > 0 || !(feeds.test(program) || program === '')) return undefined;
  const files = [...args.filter(word => !word.startsWith('-')), ...command.inputs];
  return files.length === 0 || files.some(isUnknown) ? undefined : files.map(word => ({ path: unquoted(word) }));
}

const within = (folder: string, path: string): string => normal(path.startsWith('/') ? path : `${folder}/${path}`);

function inFolder(folder: string, script: Script): Script {
  if (script.isUnknown) return script;
  return isUnknown(folder)
    ? unknownScript(`${shownWord(folder)}/${script.path}`)
    : { ...script, path: within(folder, script.path) };
}

const scriptsIn = (line: string, environment: Variables): readonly Script[] =>
  new LineReader(line, environment).scripts();

/**
 * The files that a command line runs: programs given as a path, and scripts given to an interpreter, also as its input. Not
 * its other arguments: in `grep -q yes answer.txt` the answer is the work, not the check. Whether they exist is for others
 * to see; a path may be a pattern.
 */
export function checkScripts(line: string, environment: Variables = {}): readonly string[] {
  const found = scriptsIn(line, environment).filter(script => script.isUnknown !== true);
  return [...new Set(found.map(({ path }) => path))].filter(path => path !== '');
}

/** What a line runs of which only the run itself shows which file it is. */
export const unknownScripts = (line: string, environment: Variables = {}): readonly string[] => [
  ...new Set(scriptsIn(line, environment).flatMap(({ path, isUnknown: is }) => (is === true ? [path] : []))),
];

/** Patterns of which a line runs the first file alone. */
export const firstOfPatterns = (line: string): readonly string[] =>
  scriptsIn(line, {}).flatMap(({ path, takesFirst }) => (takesFirst === true ? [path] : []));

interface Step {
  /** Where it runs, seen from where the line runs. */
  readonly folder: string;
  readonly words: readonly string[];
}

/** The simple commands of a line as they are written, each with the folder into which the line went before it. */
function stepsOf(line: string): readonly Step[] {
  const steps: Step[] = [];
  let folder = '.';
  for (const words of simpleCommands(line)) {
    const [program, target] = words;
    if (program === 'cd' && target !== undefined) folder = target.startsWith('/') ? target : `${folder}/${target}`;
    else steps.push({ folder, words: launched(words).words });
  }
  return steps;
}

/** The programs that command lines start by their names, not by a path. */
export const programsOf = (lines: readonly string[]): ReadonlySet<string> =>
  new Set(
    lines
      .flatMap(stepsOf)
      .flatMap(({ words: [program] }) => (program === undefined || program.includes('/') ? [] : [program])),
  );

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
