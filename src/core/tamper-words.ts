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

/**
 * The files that a command line runs: programs given as a path, and scripts given to an interpreter. Not its other
 * arguments: in `grep -q yes answer.txt` the answer is the work, not the check. Whether they exist is for others to see.
 */
export function checkScripts(line: string): readonly string[] {
  const found: string[] = [];
  let folder = '.';
  for (const words of simpleCommands(line)) {
    const [program, target] = words;
    if (program === 'cd' && target !== undefined) folder = target.startsWith('/') ? target : `${folder}/${target}`;
    else
      for (const script of scriptsOf(words))
        found.push(normal(script.startsWith('/') ? script : `${folder}/${script}`));
  }
  return [...new Set(found)].filter(path => path !== '');
}

/** Names of the package.json scripts that a command line runs. */
export function manifestScripts(line: string): readonly string[] {
  return simpleCommands(line).flatMap(words => {
    const [program = '', first = '', second = ''] = withoutWrappers(words).filter(
      (word, at) => at === 0 || !word.startsWith('-'),
    );
    if (!/^(npm|pnpm|yarn|bun)$/.test(program)) return [];
    const name = first === 'run' || first === 'run-script' ? second : first === 't' || first === 'tst' ? 'test' : first;
    return [name, `pre${name}`, `post${name}`];
  });
}
