// A rule about the text of a file: what it must not bring in, lose or lower, compared before and after the work.

export interface Rule {
  /** By their whole path. */
  readonly files: RegExp;
  /** What counts in it; of a test file it may depend on what it tests. */
  readonly brings: RegExp | ((subject: string) => RegExp);
  /** More of it than before, unless given. */
  readonly compare?: keyof typeof comparisons;
  /** Only where a check fits. */
  readonly check?: RegExp;
  /** Not where the file says this now. */
  readonly unless?: RegExp;
  /** Comments count too. */
  readonly isComment?: true;
  readonly severity?: 'report';
  readonly what: string;
}

type Lines = readonly string[];

/** The values of a setting: texts in quotes, else words; all of what fits where it has no name. */
function entriesOf(match: string): Lines {
  const [, name, value = match] = /^["']?([\w.-]+)["']?[ \t]*[:=]+>?([\s\S]*)$/.exec(match) ?? [];
  const texts = value.match(/(["'`])[^"'`\n]*\1/g)?.map(text => text.slice(1, -1));
  if (texts !== undefined || name === undefined) return texts ?? [match];
  const words = value.split(/[\s,[\]]+/).filter(word => word !== '' && word !== '-');
  return words.map(word => `${name}=${word}`);
}

/** Nobody's tests. */
const usual =
  /node_modules|(?:^|[/*=])(?:dist|build|coverage|out|target|vendor|venv|e2e|generated|migrations|fixtures?)\b|^\*\*\/\*\.d\.ts$|^\.|^\d+$|^(?:\w+=)?(?:test_?\*|\*_test|tests?|Test\*?)(?:\.py)?$/;
const entries = (matches: Lines): Lines => matches.flatMap(entriesOf);
const without = (from: Lines, other: Lines): Lines =>
  from.filter(each => !other.some(one => one === each || (each.includes(' ') && one.includes(each))));

const globCharsMax = 200;

/** `{a,b}` written out, as far as that stays small. */
function unbraced(pattern: string): Lines {
  const [, before, inner, after] = /^([^{}]*)\{([^{}]*)\}([\s\S]*)$/.exec(pattern.slice(0, globCharsMax)) ?? [];
  if (inner === undefined) return [pattern];
  return inner
    .split(',')
    .slice(0, 8)
    .flatMap(part => unbraced(`${before}${part}${after}`))
    .slice(0, 64);
}

/** As a regular expression over paths. */
const globOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern.replace(/\*\*\/|\*+|\?|[\\^$.+()[\]{}|]/g, part =>
      part === '**/' ? '(?:[^/]+/){0,5}' : part.startsWith('*') ? '[^/]*' : part === '?' ? '[^/]' : `\\${part}`,
    )}$`,
  );

/** A path of each form that fits a pattern. */
const samplesOf = (pattern: string): Lines =>
  ['', 'z/'].map(folder => pattern.replaceAll('**/', folder).replace(/\*+/g, 'z').replaceAll('?', 'z'));

/** Patterns of files of which every file is one of those that the others stand for. */
function isCovered(pattern: string, others: Lines): boolean {
  if (!/[*?{]/.test(pattern)) return false;
  const globs = others.flatMap(unbraced).map(globOf);
  return unbraced(pattern).every(one => samplesOf(one).every(sample => globs.some(glob => glob.test(sample))));
}

const sumOf = (lines: Lines): number =>
  [...numbersOf(lines.map((line, at) => `${at} ${line}`)).values()].reduce((a, b) => a + b, 0);

/** The last number of each; by what stands before it. */
function numbersOf(matches: Lines): ReadonlyMap<string, number> {
  const found = matches.map(match => /^([\s\S]*?)(\d+(?:\.\d+)?)\D*$/.exec(match));
  return new Map(found.flatMap(hit => (hit === null ? [] : [[hit[1] as string, Number(hit[2])] as const])));
}

const commandsIn = (line: string): Lines =>
  line
    .replace(/^[\s-]*(?:run:|script:)?[\s|>]*/, '')
    .split(/\s*(?:&&|;)\s*/)
    .filter(command => /\b(?:test|check|lint|pytest|vitest|jest|tsc|rspec|phpunit|clippy)\b/.test(command));

/** Whether what it became is worse than what it was. */
const comparisons = {
  more: (was: Lines, is: Lines) => is.length > was.length,
  /** Also what was there already and is another one now, or gone: only in files that were there before. */
  other: (was: Lines, is: Lines) => is.join('\n') !== was.join('\n'),
  new: (was: Lines, is: Lines) => without(entries(is), entries(was)).some(entry => !usual.test(entry)),
  first: (was: Lines, is: Lines) => was.length === 0 && entries(is).some(entry => !usual.test(entry)),
  /** Only in files that were there before. */
  brought: (was: Lines, is: Lines) => is.length > was.length,
  fewer: (was: Lines, is: Lines) => is.length < was.length,
  /** Commands of a pipeline, one by one. */
  dropped(was: Lines, is: Lines) {
    const now = is.flatMap(commandsIn);
    return was.flatMap(commandsIn).some(command => !now.some(other => other.includes(command)));
  },
  /** A setting may have moved to another file, which writes it in its own way. */
  lost(was: Lines, is: Lines, elsewhere: Lines) {
    const plain = (entry: string): string => entry.replace(/^[\w.-]+=/, '');
    const [now, moved] = [entries(is), entries(elsewhere).map(plain)];
    return without(entries(was), now).some(entry => !moved.includes(plain(entry)) && !isCovered(entry, now));
  },
  /** And more than twice: `retries`. */
  higher: (was: Lines, is: Lines) => sumOf(is) > Math.max(2, sumOf(was)),
  lower(was: Lines, is: Lines) {
    const now = numbersOf(is);
    return [...numbersOf(was)].some(([key, number]) => (now.get(key) ?? -1) < number);
  },
};

/** `elsewhere`: what other files gained of it. */
export function isBroken({ compare = 'more' }: Rule, was: Lines, is: Lines, elsewhere: Lines = []): boolean {
  return comparisons[compare](was, is, elsewhere);
}
