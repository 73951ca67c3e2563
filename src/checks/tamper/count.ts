// Counts what a test file proves: tests, assertions that can fail, skips, and calls that end a run as if all were well.
import { codeOnly, type Language } from './source-code.ts';
import { type Chain, type Mark, marker } from './test-rules.ts';

export interface Counts {
  readonly tests: number;
  readonly assertions: number;
  readonly skips: number;
  /** Of these skips: those that depend on something. */
  readonly conditions: number;
  readonly onlys: number;
  /** Tables of cases: one test may stand for several. */
  readonly tables: number;
  /** process.exit(0) and its like. */
  readonly exits: number;
}

export const noCounts: Counts = { tests: 0, assertions: 0, skips: 0, conditions: 0, onlys: 0, tables: 0, exits: 0 };

const chains = /[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*/g;
const restCharsMax = 60;
const priorCharsMax = 400;

/** `expect(true)`, `assert True`, `assertEquals(1, 1)`: it cannot fail, so it proves nothing. */
const vacuous = /^\s*!?\s*\(?\s*(?:(?:true|True|1|!0)\s*(?:[);]|$|,\s*")|(\w{1,20})\s*,\s*\1\s*[,)])/;
const isVacuous = (rest: string): boolean => vacuous.test(rest.split('\n')[0] ?? '');

const exitNames = new Set(
  'process.exit sys.exit os._exit os.Exit System.exit process::exit std::process::exit Environment.Exit Deno.exit exit _exit'.split(
    ' ',
  ),
);

/** Rust keeps tests at the end of its sources; before them an assertion is part of the program. */
function testsIn(code: string, language: Language, isWholeFile: boolean): string {
  if (language !== 'rust' || isWholeFile) return code;
  const at = [code.indexOf('#[cfg(test)]'), code.indexOf('#[test]')].filter(each => each !== -1);
  return at.length === 0 ? '' : code.slice(Math.min(...at));
}

/** A build constraint takes a Go file out of every run that does not ask for it; it stands in a comment. */
const goConstraints = (text: string): number =>
  text.startsWith('//go:build ') || text.includes('\n//go:build ') || text.startsWith('// +build ') ? 1 : 0;

/** Runs no test at all and ends well. */
const isEmptyTestMain = (code: string): boolean => {
  const at = code.search(/func TestMain\(/);
  return at !== -1 && !code.includes('.Run(', at);
};

/** `#[cfg(any())]` never holds: what it stands before is not compiled. */
const rustNever = (code: string): number =>
  code.match(/#!?\[cfg(?:_attr)?\([^\]\n]{0,100}?\bany\(\s{0,9}\)/g)?.length ?? 0;

/** Bats and shell tests assert with brackets, which are no names. */
const shellBrackets = (code: string): number => code.match(/^[ \t]*(?:!\s*)?\[{1,2} /gm)?.length ?? 0;

/** What no chain of names shows. */
const extraSkips = (text: string, code: string, language: Language): number =>
  language === 'go' ? goConstraints(text) : language === 'rust' ? rustNever(code) : 0;

/** Linear in the length of the text. `isWholeFile`: all of it is test code. */
export function countsOf(text: string, language: Language, isWholeFile = true): Counts {
  const whole = codeOnly(text, language);
  const code = testsIn(whole, language, isWholeFile);
  const found: Record<Mark, number> = { test: 0, assertion: 0, skip: 0, condition: 0, only: 0, table: 0 };
  let exits = language === 'go' && isEmptyTestMain(code) ? 1 : 0;
  const marksOf = marker(language);
  chains.lastIndex = 0;
  for (let hit = chains.exec(code); hit !== null; hit = chains.exec(code)) {
    const chain = chainAt(code, hit[0], hit.index);
    for (const mark of marksOf(chain)) if (mark !== 'assertion' || !isVacuous(chain.rest)) found[mark] += 1;
    if (exitNames.has(hit[0]) && /^\s*\(?\s*0\b/.test(chain.rest) && language !== 'shell') exits += 1;
  }
  return {
    tests: found.test,
    assertions: found.assertion + (language === 'shell' ? shellBrackets(code) : 0),
    skips: found.skip + extraSkips(text, whole, language),
    conditions: found.condition,
    onlys: found.only,
    tables: found.table,
    exits,
  };
}

function chainAt(code: string, text: string, at: number): Chain {
  const end = at + text.length;
  let back = at - 1;
  while (code[back] === ' ' || code[back] === '\t') back -= 1;
  let next = end;
  while (code[next] === ' ' || code[next] === '\t') next += 1;
  const after = code[next] ?? '';
  const words = text.split(/\.|::|->|\?\./);
  return {
    name: words.join('.'),
    first: words[0] as string,
    last: words.at(-1) as string,
    before: code[at - 1] ?? '\n',
    after: after === '\n' || after === '\r' ? '' : after,
    isFirst: back < 0 || code[back] === '\n' || code[back] === ';',
    rest: code.slice(end, end + restCharsMax),
    prior: () => code.slice(Math.max(0, at - priorCharsMax), at),
  };
}

export const addCounts = (a: Counts, b: Counts): Counts => ({
  tests: a.tests + b.tests,
  assertions: a.assertions + b.assertions,
  skips: a.skips + b.skips,
  conditions: a.conditions + b.conditions,
  onlys: a.onlys + b.onlys,
  tables: a.tables + b.tables,
  exits: a.exits + b.exits,
});
