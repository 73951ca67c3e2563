// Weakened checks: shell that hides a failure, settings that leave tests out, and the findings about changed files.
import type { Finding, FindingKind } from '../../core/task.ts';
import { oneLine, takeCharacters } from '../../text/text.ts';
import { simpleCommands } from './command-line.ts';

export interface ChangedFile {
  readonly path: string;
  /** Absent: the file was not there. */
  readonly before?: string;
  readonly after?: string;
  /** Too large or no text: nothing can be said about what it holds. */
  readonly isOpaque?: true;
}

const { raw } = String;

const failureHiding = [
  /\|\|[ \t]*(?:true|:|\/bin\/true|echo|exit 0|return 0)(?=$|[\s;&|)"'])/gm,
  /(?:^|[\s;&|])(?:exit|return) 0(?=$|[\s;&|)"'])/gm,
  /(?:^|[\s;&|])set \+e(?=$|[\s;])/gm,
  /;[ \t]*(?:true|:)[ \t]*(?=$|["'])/gm,
  /--?pass-?with-?no-?tests|--exit-zero|--no-error-on-unmatched-pattern|--maxfail=0/gi,
];

const testSilencing = [
  /passWithNoTests["']?[ \t]*[:=][ \t]*true/g,
  /\b(?:collect_ignore|collect_ignore_glob|pytest_collection_modifyitems|pytest_sessionfinish|pytest_ignore_collect|pytest_pyfunc_call|pytest_runtest_\w+|pytest_report_teststatus)\b/g,
  /--(?:ignore|deselect|ignore-glob)[= ]/g,
  /\b(?:skipTests|maven\.test\.skip|ignoreFailures|testFailureIgnore)\b(?!["']?[ \t]*[:=>][ \t]*false)/g,
];

const matchCount = (text: string, patterns: readonly RegExp[]): number =>
  patterns.reduce((sum, pattern) => sum + (text.match(pattern)?.length ?? 0), 0);

/** How often a line of shell makes a failure look like a success. */
export const hiddenFailures = (text: string): number => matchCount(text, failureHiding);

/** How often the settings of a test runner leave tests out or let them fail. */
export const silencedTests = (text: string): number => matchCount(text, testSilencing);

/** It does nothing that could fail: `true`, `echo ok`, `exit 0`, nothing. */
export function cannotFail(script: string): boolean {
  return simpleCommands(script.replaceAll('\n', ';')).every(
    ([program = '', argument]) =>
      /^(true|:|echo|printf|set|#!.*)$/.test(program) || (/^(exit|return)$/.test(program) && argument === '0'),
  );
}

/** What a command may be given without running less: it says more, or looks harder. */
export const harmless = new RegExp(
  [
    raw`--?(?:|v+|q+|s|n|i|ci|r\w{0,3}|race|bail|verbose|quiet|silent|strict[\w-]*|color\S*|no-color|colors|tb=\S+|durations(?:=\d+)?)`,
    raw`--?(?:(?:test-)?reporters?\S*|output-on-failure|logger\S*|testdox|format\S*|trace|info|stacktrace|nologo|verbosity|junit\S*|display-\S+)`,
    raw`--?(?:all|check-coverage|(?:no-)?coverage(?:\.\S+)?|cov(?:=\S+)?|cov-(?:report|branch)\S*|cov-fail-under\S*|cover\S*|typecheck)`,
    raw`--?(?:timeout\S*|runInBand|no-cache|no-daemon|max-?workers\S*|(?:test-)?concurrency\S*|parallel\S*|p|j\d*|shuffle\S*|order|dist|import-mode=\S+)`,
    raw`--?(?:all-features|all-targets|workspace|locked|no-fail-fast|continue|W|max-warnings=?0?|count=1|maxfail=[1-9]\d*|fail-fast|failfast|watchAll=false)`,
    raw`--?(?:logHeapUsage|detectOpenHandles|no-header|forbid-only|B|ntp|U)`,
    raw`auto|error|verbose|dot|spec|junit|trx|documentation|progress|default|random|normal|minimal|loadscope|run|\d+[smh%]?`,
  ]
    .map(words => `^(?:${words})$`)
    .join('|'),
);
/** What may be taken out again: it says how, not what. */
const cosmetic =
  /^--?(?:v+|q+|s|verbose|quiet|silent|color\S*|no-color|colors|(?:test-)?reporters?\S*|tb=\S+|durations\S*|timeout=?\d*|runInBand|no-cache|maxWorkers=\S+|(?:test-)?concurrency=\d+|bail|x|fail-fast|failfast|logHeapUsage|watchAll=false)$|^(?:dot|spec|min|tap|verbose|progress|documentation|\d+[smh%]?)$/;
/** After these the rest of a line is no longer what it was. */
const diverts = /^(?:exit|return|cd|exec|export|set|source|\.|alias|trap|eval|false|!|if|for|while|function|\w+=.*)$/;

/** The commands of a script that do something are all in it still, as they were or with something harmless added. */
export function keepsCommands(before: string, after: string): boolean {
  const [was, is] = [before, after].map(text =>
    simpleCommands(
      text
        .replace(/^[ \t]*#.*$/gm, '')
        .replaceAll('\\\n', ' ')
        .replaceAll('\n', ';'),
    ),
  ) as [readonly (readonly string[])[], readonly (readonly string[])[]];
  const ends = (commands: readonly (readonly string[])[]): number =>
    commands.filter(([program = '', code = '0']) => /^(?:exit|return)$/.test(program) && code !== '0').length;
  // Behind an `if` its failure counts when the script ends by itself then.
  const now = ends(is) > ends(was) ? is.map(words => words.slice(words.findIndex(word => !keyword.test(word)))) : is;
  const isIn = (words: readonly string[]): boolean =>
    now.some(other => isWithin(words, other)) || installs.test(words.join(' '));
  return was.every(words => !/^[\w./-]+$/.test(words[0] ?? '') || says.test(words[0] ?? '') || isIn(words));
}
const keyword = /^(?:if|!)$/;
/** Commands that prove nothing themselves. */
const installs = /^\S+ (?:-\S+ )*(?:ci|i|install|sync|restore|add|download|mod|get|update)\b/;
const says =
  /^(?:echo|printf|cd|set|export|mkdir|rm|cp|mv|source|\.|true|:|exit|return|trap|if|then|else|fi|for|do|done|while|sleep|local|shift|unset|pwd|ls|cat|\w+=.*)$/;

/** Set for a command alone, and nobody's choice of tests. */
const plainVariable =
  /^(?:cross-env|NODE_ENV=test|(?:CI|TZ|FORCE_COLOR|NO_COLOR|RUST_BACKTRACE|PYTHONUNBUFFERED)=\w+)$/;

/** Without it a command can only fail more often. */
const lenient = /^--?(?:pass-?with-?no-?tests|exit-zero|no-error-on-unmatched-pattern|maxfail=0)$/i;
/** One and the same program, however it is started. */
const starter =
  /(?<=^|&& ?)(?:npx|python3? -m(?= pytest)|(?:poetry|uv|pipenv|pdm|hatch) run|bundle exec|(?:pnpm|yarn|npm) exec|\.\/node_modules\/\.bin\/|(?:npm|pnpm|yarn|bun)(?: run)?(?= (?!exec|ci|install|i\b|add)))[ ]?/g;
const plainly = (line: string): string =>
  line.replace(starter, found => (/^(?:npm|pnpm|yarn|bun)/.test(found) && !/exec/.test(found) ? 'npm ' : ''));

/** They run what follows and end as it does. */
const wrapper = /^(?:nyc|c8|time|npx)$/;

/** Its words are there in their order, and nothing but harmless ones between them. */
function isWithin(words: readonly string[], other: readonly string[]): boolean {
  const needed = words.filter(word => !lenient.test(word) && !cosmetic.test(word));
  let found = 0;
  let isWrapped = false;
  for (const word of other) {
    isWrapped ||= found === 0 && wrapper.test(word);
    if (word === needed[found]) found += 1;
    else if (found > 0 || isWrapped ? !harmless.test(word) && !wrapper.test(word) : !plainVariable.test(word))
      return false;
  }
  return found === needed.length;
}

const runner =
  /^(?:jest|vitest(?: run)?|mocha|ava|tap|node --test|bun test|deno test|pytest|nose2|rspec|phpunit|pest|cargo nextest run|cargo test)$/;

/** All tests by one runner, and now all of them by another. */
export const isOtherRunner = (before: string, after: string): boolean =>
  [before, after].every(line => {
    const [words = [], ...more] = simpleCommands(plainly(line));
    const said = words.filter(word => word === '--test' || word === 'run' || !harmless.test(word));
    return more.length === 0 && !/[;|&<>`$]/.test(line) && runner.test(said.join(' '));
  });

/** Whether every command of a line still stands in another as it was, in its order, and its failure counts there too. */
export function stillHolds(before: string, after: string): boolean {
  const plain = [before, after].map(line => plainly(line.replace(/\n/g, ' && ')));
  if (/[;|`<>(){}]|(?<!&)&(?!&)|\$\(/.test((plain[1] as string).replaceAll('>=', ''))) return false;
  const strict = (plain[0] as string).replace(/\|\|[ \t]*(?:true|:)(?=[ \t]*(?:$|&&))/g, '');
  const [old, now] = [strict, plain[1] as string].map(simpleCommands) as [
    readonly (readonly string[])[],
    readonly (readonly string[])[],
  ];
  const left = [...old];
  for (const words of now) {
    const [first] = left;
    if (first !== undefined && isWithin(first, words)) left.shift();
    else if (diverts.test(words[0] ?? '')) return false;
  }
  return old.length > 0 && left.length === 0;
}

export const finding = (
  kind: FindingKind,
  path: string,
  detail: string,
  severity: Finding['severity'] = 'refuse',
): Finding => ({ kind, path, detail, severity });

export const weakened = (path: string, detail: string): Finding => finding('check-neutered', path, detail);

export const changed = (path: string, detail: string): Finding =>
  finding('configuration-changed', path, detail, 'report');

/** For a file of which only this much is worth saying. */
export const plainChange = ({ path, before, after }: ChangedFile): Finding =>
  changed(path, after === undefined ? 'it was deleted' : before === undefined ? 'it was added' : 'it was changed');

const shownCharsMax = 120;

function shortened(text: string): string {
  const line = oneLine(text);
  const shown = takeCharacters(line, shownCharsMax);
  return JSON.stringify(shown === line ? line : `${shown}… (${line.length} characters)`);
}

/** What it was and what it is, for a person to compare. */
export const beforeAndAfter = (before: string, after: string): string =>
  `it was ${shortened(before)}, it is ${shortened(after)}`;
