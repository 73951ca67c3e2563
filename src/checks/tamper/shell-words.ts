// Shell command lines, read as far as it takes to see what they run: words, inputs, pipes, substitutions and variables.

/** One program with its words; what others put into its input. */
export interface SimpleCommand {
  readonly words: readonly string[];
  /** Files behind `<`. */
  readonly inputs: readonly string[];
  /** Text behind `<<<`. */
  readonly given: readonly string[];
  /** Commands whose output it reads. */
  readonly feeders: readonly SimpleCommand[];
  /** How many parentheses it stands in: a `cd` does not leave them. */
  readonly depth: number;
}

export interface ShellLine {
  readonly commands: readonly SimpleCommand[];
  /** What stands between `$(` and `)`, between backquotes, and between `<(` and `)`: command lines of their own. */
  readonly substitutions: readonly string[];
}

type Variables = Readonly<Record<string, string | undefined>>;

// A word that is to be expanded still holds `$`, `*` and the like. What is quoted stands as a character of nobody's.
const quotedMarks: Readonly<Record<string, string>> = {
  ...{ $: '\ue001', '*': '\ue002', '?': '\ue003', '[': '\ue004', '{': '\ue005' },
};
const markOf = new Map(Object.entries(quotedMarks).map(([plain, mark]) => [mark, plain]));
const quoted = (text: string, which: RegExp): string => text.replace(which, found => quotedMarks[found] ?? found);
const plain = (text: string): string => text.replace(/[\ue001-\ue005]/g, mark => markOf.get(mark) ?? mark);

/** Stands for a substitution: its place in the list is the character behind it. */
const substitute = '\ue010';
const substituteBase = 0xe100;
const substitutionsMax = 500;

/** Single quotes, double quotes, an escaped character, a redirection, a separator, blanks, anything else. */
const pieces =
  /'([^']*)'?|"((?:[^"\\]+|\\[\s\S]?)*)"?|\\([\s\S]?)|(<<<|[<>]{1,2}[&>-]?)|(\|\||&&|\|&|[;&|()\n])|[ \t]+|([^'"\\<>;&|()\n \t]+)/g;

/** Where the parenthesis that opens before `from` ends. */
function closing(text: string, from: number): number {
  let open = 1;
  for (let at = from; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '\\') at += 1;
    else if (letter === "'") at = Math.max(at, text.indexOf("'", at + 1));
    else if (letter === '(') open += 1;
    else if (letter === ')') open -= 1;
    if (open === 0) return at;
  }
  return text.length;
}

/** What these say is known before they run. */
const knownSubstitutions: readonly (readonly [RegExp, string])[] = [
  [/^\s*pwd(\s+-[LP])?\s*$/, '.'],
  [/^\s*(?:which|command\s+-v|type\s+-P)\s+([\w.+-]+)\s*$/, '$1'],
];

const tokens = /\\[\s\S]?|'[^']*'?|`([^`]*)`?|([$<>])\((\(?)|"|[^\\'`$<>"]+|[\s\S]/g;

/** Takes substitutions out of a line. */
function withoutSubstitutions(line: string): { readonly text: string; readonly inner: readonly string[] } {
  const inner: string[] = [];
  const put = (found: string): string => {
    const known = knownSubstitutions.find(([pattern]) => pattern.test(found));
    if (known !== undefined) return found.replace(...known);
    if (inner.length === substitutionsMax) return substitute;
    return `${substitute}${String.fromCharCode(substituteBase + inner.push(found) - 1)}`;
  };
  let text = '';
  let isDouble = false;
  const token = new RegExp(tokens);
  for (let hit = token.exec(line); hit !== null; hit = token.exec(line)) {
    const [whole, backquoted, opener, arithmetic] = hit;
    if (whole === '"') isDouble = !isDouble;
    if (isDouble && whole.startsWith("'")) {
      text += "'";
      token.lastIndex = hit.index + 1;
    } else if (arithmetic === '' && (opener === '$' || !isDouble)) {
      const end = closing(line, token.lastIndex);
      text += put(line.slice(token.lastIndex, end));
      token.lastIndex = end + 1;
    } else text += backquoted === undefined ? whole : put(backquoted);
  }
  return { text, inner };
}

interface OpenCommand extends SimpleCommand {
  readonly words: string[];
  readonly inputs: string[];
  readonly given: string[];
}

const opened = (depth: number, feeders: readonly SimpleCommand[] = []): OpenCommand => {
  return { words: [], inputs: [], given: [], feeders, depth };
};

/** Puts the pieces of a line together. */
class LineBuilder {
  readonly commands: SimpleCommand[] = [];
  #current = opened(0);
  #word: string | undefined;
  #redirection: string | undefined;

  add(part: string): void {
    this.#word = `${this.#word ?? ''}${part}`;
  }

  redirect(by: string): void {
    if (/^\d*$/.test(this.#word ?? '')) this.#word = undefined; // the 2 of 2>
    this.endWord();
    this.#redirection = by;
  }

  endWord(): void {
    const [word, by] = [this.#word, this.#redirection];
    if (word === undefined) return;
    if (by === undefined) this.#current.words.push(word);
    else if (by === '<') this.#current.inputs.push(word);
    else if (by === '<<<') this.#current.given.push(plain(word));
    [this.#word, this.#redirection] = [undefined, undefined];
  }

  endCommand(separator: string): void {
    this.endWord();
    this.#redirection = undefined;
    const { words, inputs, depth } = this.#current;
    const isEmpty = words.length + inputs.length === 0;
    if (!isEmpty) this.commands.push(this.#current);
    const isGroup = isEmpty || /^(\}|done|fi|esac)$/.test(words[0] ?? '');
    const isPipe = separator === '|' || separator === '|&';
    const feeders = isPipe ? this.commands.slice(isGroup ? 0 : -1) : [];
    this.#current = opened(Math.max(0, depth + (separator === '(' ? 1 : separator === ')' ? -1 : 0)), feeders);
  }
}

/** What a quoted or plain piece adds to its word; undefined for all others. */
function partOf([, single, double, escapedOne, , , other]: RegExpMatchArray): string | undefined {
  const literal = single ?? escapedOne;
  if (literal !== undefined) return quoted(literal, /[$*?[{]/g);
  if (double === undefined) return other;
  const inside = double.replace(/\\([\s\S]?)/g, (_, letter: string) => quoted(letter, /\$/g));
  return quoted(inside, /[*?[]|(?<!\$)\{/g);
}

/** The simple commands of a line. Words are as they are before expansion. */
export function readLine(line: string): ShellLine {
  const { text, inner } = withoutSubstitutions(line);
  const builder = new LineBuilder();
  for (const piece of text.matchAll(pieces)) {
    const part = partOf(piece);
    const [, , , , redirected, separator] = piece;
    if (part !== undefined) builder.add(part);
    else if (redirected !== undefined) builder.redirect(redirected);
    else if (separator !== undefined) builder.endCommand(separator);
    else builder.endWord();
  }
  builder.endCommand(';');
  return { commands: builder.commands, substitutions: inner };
}

/** The substitution that a word is, and nothing else. */
export function soleSubstitution(word: string, line: ShellLine): string | undefined {
  return word.length === 2 && word.startsWith(substitute)
    ? line.substitutions[word.charCodeAt(1) - substituteBase]
    : undefined;
}

/** It only shows when it runs: a substitution, a parameter, a variable that is read. */
export const isUnknown = (word: string): boolean => word.includes(substitute) || word.includes('$');

/** As a person typed it, more or less. */
export const shownWord = (word: string): string => plain(word.replace(/\ue010[\s\S]?/g, '$(…)'));

const reference = /\$(?:(\w+)|\{(\w+)(?::?([-+=?])([^}]*))?\})/;
const valuesMax = 200;

/** What the variables of a line may hold, as far as the line says it: `for x in a b`, `x=a`. */
export class LineVariables {
  readonly #known = new Map<string, readonly string[]>();
  readonly #environment: Variables;

  constructor(environment: Variables = {}) {
    this.#environment = environment;
  }

  /** `for x in …`, `read x`, and assignments before a command. */
  note(words: readonly string[]): void {
    if (words[0] === 'for' && words[1] !== undefined) {
      const values = words[2] === 'in' ? words.slice(3).flatMap(word => this.values(word)) : ['$@'];
      this.#known.set(words[1], values);
    }
    if (/^(read|mapfile|readarray|getopts)$/.test(words[0] ?? ''))
      for (const name of words.slice(1)) this.#known.set(name, ['$1']);
    for (const word of words) {
      const [, name, value = ''] = /^(\w+)=([\s\S]*)$/.exec(word) ?? [];
      if (name === undefined && !/^(export|local|readonly|declare)$/.test(word)) return;
      if (name !== undefined) this.#known.set(name, this.values(value));
    }
  }

  /** Every text that a word may become. What is not known stays as it is. */
  values(word: string): readonly string[] {
    let open: readonly string[] = [word];
    for (let round = 0; round < 20 && open.some(one => reference.test(one)); round += 1)
      open = open.flatMap(one => this.#once(one)).slice(0, valuesMax);
    return open;
  }

  #once(word: string): readonly string[] {
    const [whole, bare, braced, operator, otherwise = ''] = reference.exec(word) ?? [];
    if (whole === undefined) return [word];
    const name = bare ?? braced ?? '';
    const put = (value: string): string => word.replace(whole, () => value);
    if (/^\d/.test(name)) return [put(substitute)];
    if (name === 'PWD') return [put('.')];
    const set = this.#known.get(name) ?? (this.#environment[name] === undefined ? [] : [this.#environment[name]]);
    if (set.length > 0) return set.map(value => put(value.includes(whole) ? substitute : value));
    return [put(operator === '-' || operator === '=' ? otherwise : '')];
  }
}

/** Words of a command as plain text, for those who only look at what is written. */
export const plainWords = ({ words }: SimpleCommand): readonly string[] => words.map(shownWord);

export const unquoted = plain;
