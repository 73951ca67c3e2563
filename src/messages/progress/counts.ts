// Counts in a text: what is left to do by its numbers; less of it than ever before is progress.
import { remembered } from '../../text/remembered.ts';

const bad = String.raw`(?:fail\w*|errors?|broken|red\b|left\b|remain\w*|to go\b|open\b|missing|warnings?|problems?|todo|unresolved|violations?|issues?|outstanding)`;
const good = String.raw`(?:pass\w*|green|done|finished|complete\w*|migrated|converted|ported|translated|fixed|covered|reviewed|processed|read|written)`;

interface Count {
  readonly name: string;
  readonly pattern: RegExp;
  left(a: number, b: number): number;
  /** The agent's own word for it: nothing against a check that says the same as before. */
  readonly isPraise?: true;
}

const kinds: readonly Count[] = [
  {
    name: 'left',
    pattern: new RegExp(String.raw`(\d+)(?: (?:of|out of) \d+)?(?: [a-z]+){0,3}? ${bad}`, 'gi'),
    left: a => a,
  },
  { name: 'left', pattern: new RegExp(String.raw`\b${bad}[:=] ?(\d+)`, 'gi'), left: a => a },
  {
    name: 'of',
    pattern: /(\d+) ?(?:of|out of|\/) ?(\d+)(?!(?: [a-z]+){0,3}? (?:fail|error|broken|left|remain|missing))/gi,
    left: (a, b) => b - a,
  },
  { name: 'size', pattern: /(\d+(?:\.\d+)?) ?(?:[kmg]i?b|bytes)\b/gi, left: a => a },
  { name: 'rate', pattern: /(\d+(?:\.\d+)?) ?[a-z]*(?:\/s\b|\/sec\b| per second)/gi, left: a => -a },
  { name: '%', pattern: /(\d+(?:\.\d+)?) ?%/g, left: a => 100 - a, isPraise: true },
  {
    name: 'done',
    pattern: new RegExp(String.raw`(\d+)(?: [a-z]+){0,2}? ${good}`, 'gi'),
    left: a => -a,
    isPraise: true,
  },
];

/** The first of each name. */
const leftIn = remembered((text: string, takesPraise: boolean): ReadonlyMap<string, number> => {
  const found = new Map<string, number>();
  for (const { name, pattern, left, isPraise } of kinds) {
    if (isPraise && !takesPraise) continue;
    for (const [, a, b] of text.matchAll(pattern)) {
      const key = name === 'of' ? `of ${b}` : name;
      if (!found.has(key)) found.set(key, left(Number(a), Number(b)));
    }
  }
  return found;
});

export const hasCount = (text: string): boolean => leftIn(text, true).size > 0;

/** Less is left than every text before says. */
export function hasFallen(text: string, before: readonly string[], takesPraise = true): boolean {
  const earlier = before.map(one => leftIn(one, takesPraise));
  return [...leftIn(text, takesPraise)].some(([name, left]) => {
    const known = earlier.flatMap(one => one.get(name) ?? []);
    return known.length > 0 && known.every(value => left < value);
  });
}
