// The progress of a task: one pure function over its last iterations, what each said and left; the first rule that holds names what is wrong.

/** One iteration of a task. All texts are normalised; `undefined`: not known. */
export interface Step {
  readonly said: string;
  readonly error?: string | undefined;
  /** The same id: the same files. */
  readonly tree?: string | undefined;
  /** What a check printed that refused its claim. */
  readonly check?: string | undefined;
  /** What its report calls completed. */
  readonly report?: string | undefined;
  /** A task was closed by it. */
  readonly closed?: boolean | undefined;
}

export interface Repetition {
  readonly kind: 'similar' | 'oscillation' | 'same-error' | 'churn';
  readonly detail: string;
}

/** `asks`: the next prompt was told, and it did not help. */
export interface Standstill extends Repetition {
  readonly asks: boolean;
}

const windowSteps = 16;
/** So many iterations in a row without anything new: a person is asked. The first of them is told. */
export const barrenMax = 3;
/** Or so many of the last six. */
const barrenOf = { count: 4, of: 6 } as const;
const returnsMax = 2;
const sameErrorsMax = 3;
/** Other files, the same answer of the check, and words that name nothing new. */
const effectlessMax = 5;
const churnTold = 8;
/** Words that say little, or a check that stays as it is, need less patience than words that tell of something. */
const churnMax = { idle: 9, telling: 15 } as const;

// What the words say: promises and excuses say nothing, and so do the words that every such message has.

const intent =
  /\b(?:i['’]?ll|i will|we will|going to|let me|let['’]s|will (?:now|then|next)|about to|(?:i|we) plan|plan(?:ning)? to|intend|should|need(?:s|ed)? to|(?:ready|prepared|want|time|remains) to|next|soon|shortly|would|(?:start|begin|proceed|mov|jump|head|gett)ing|begins?|(?:could|can|did|do|does)(?:n['’]t| not)|cannot|can['’]t|unable|still|again|same|blocked|stuck|waiting|no (?:luck|progress|change|way|access|idea)|thanks?|sorry|apolog\w+|happy to|glad)\b|\?$/i;
/** In files that are as they were this is said, but was not done. */
const claimsWork = /\b(?:implemented|fixed|wrote|created|added|updated|refactored|edited|modified)\b/i;

const generic = new Set(
  `about above according account achieve across action actual actually add added adding address adjust after again ahead aim align all
  allow almost already also although always analysis analyse analyze another any anything apologies apply approach appropriate area around
  ask aspect assess attempt attention available aware away back base based basic basis because become been before began begin behind being
  believe best better between big both bring broad build built bunch but call can capture careful carefully carry case cause certain change
  check choose clarify clean clear clearly close closer code codebase come comment commit common complete completed completely comprehend
  concept concern conclude conclusion concrete confident confirm consider considerable consideration consistent contain content context
  continue correct could couple course cover craft create current currently cycle dealt deal decide deep deeper define definitely deliver
  depth describe description design desire detail detailed determine develop did different direction discover discuss document does doing
  done down draft due during each early easy edge edit effort either else end engage enough ensure entire environment especially establish
  even every everything exact exactly examine example execute exist expect expected explain explore extend extra face fact familiar far
  feature feel few figure file final finally find fine finish first fix focus folder follow foundation from full fully function further
  gain gather gave general get give given go goal going good got grasp great ground group guide had half hand handle happen hard has have
  head help here high hold hope how however idea identify immediately impact implement implementation important improve improvement include
  indeed information initial initially insight inspect instead instruction intend into investigate investigation involve issue item iteration
  its itself job journal just keep key kind knew know knowledge large last later lay layout learn least leave left less let level like line
  list little logic long look lot made main maintain major make manner many map matter maybe mean meaningful meanwhile mental mention
  message method might mind minor minute moment momentum more most mostly move moving much must name namely nature near nearly necessary
  need never new next nice none not note nothing notice now number objective observation observe obstacle obtain off often once one only
  onto open option order organise organize other otherwise our out outcome outline over overall overview own page part particular path
  pattern pause perfect perform perhaps person picture piece place plan point position possible possibly potential prepare preparation
  present pretty previous prior probably problem proceed process produce productive progress project promise proper properly prompt
  provide purpose push put question quick quickly quite rather reach read ready real realise realize really reason recap recheck record
  reflect reflection refine regard relate related relevant remain remaining remark remind report repo repository request require required
  requirement research resolve respect respond rest result resume review revisit right roadmap root rough round run said sample save say
  scan scope second section see seem sense separate session set setup several shall shape share short should show side significant similar
  simple simply since single situation small smooth soft solid solution solve some something soon sort source space specific spend spent
  stage stand start state statement status stay steady step still stop straight strategy structure study stuff style subject such summary
  sure surface system take talk target task team tell term text than thank that the their them then there therefore these they thing think
  thorough thoroughly those though thought through time tiny tip together told too took top topic toward towards track trail true truly try turn
  two type typical ultimate under undergo understand understanding understood undertake unit until update upon use useful user usual valid
  value various verify version very view wait walk want warm was way week well went were what whatever when where whether which while whole
  why wide will with within without wonder word work worked working world worth would wrap write written wrote yes yet you your`
    .split(/\s+/)
    .map(stem),
);

function stem(word: string): string {
  return word.replace(/(?:ies|ing|ed|es|s|y|e|ly)$/, '');
}

interface Facts {
  /** Numbers, paths, identifiers, names. */
  readonly exact: readonly string[];
  readonly topics: readonly string[];
}

const isExact = (word: string, at: number): boolean =>
  /[\p{Nd}/\\_]|\p{L}[.@:]\p{L}|\p{Ll}\p{Lu}|^\p{Lu}{2,}/u.test(word) || (at > 0 && /^\p{Lu}\p{Ll}+/u.test(word));

const sentences = (said: string): readonly string[] =>
  said.split(/(?<=[.!?;])\s+|,\s+(?=(?:(?:so|and|then|but|now) )?(?:i|we|let|next)\b)/i);

const wordsOf = (sentence: string): readonly string[] =>
  sentence
    .split(/[\s"`()[\]{}<>,;|*]+|(?<=\p{Ll})-(?=\p{Ll})/u)
    .map(raw => raw.replace(/^[^\p{L}\p{N}/\\_.]+|[^\p{L}\p{N}/\\_]+$/gu, ''));

const keyOf = (word: string): string => (/^[\p{L}'’]+$/u.test(word) ? stem(word.toLowerCase()) : word.toLowerCase());

/** `isIdle`: of an iteration that changed no file. */
function factsOf(said: string, isIdle: boolean): Facts {
  const telling = sentences(said).filter(one => !intent.test(one) && !(isIdle && claimsWork.test(one)));
  const words = telling.flatMap(sentence =>
    wordsOf(sentence).map((word, at) => ({ word, key: keyOf(word), isExact: isExact(word, at) })),
  );
  const substance = words.filter(({ key }) => key !== '' && !generic.has(key));
  return {
    exact: substance.filter(one => one.isExact).map(one => one.key),
    topics: substance.filter(one => !one.isExact && one.word.length >= 3).map(one => one.key),
  };
}

/** How much of the words of substance must be new: one alone may be another word for the same. */
const fresh = { topicsMin: 2, share: 0.4 } as const;

/** It names something that no text before it named: anything exact, or several words of substance. */
function bringsNews(
  said: string,
  before: readonly string[],
  isIdle = false,
  topicsMin: number = fresh.topicsMin,
): boolean {
  const known = new Set(before.flatMap(text => Object.values(factsOf(text, false)).flat()));
  const { exact, topics } = factsOf(said, isIdle);
  const own = new Set(topics);
  const others = [...own].filter(word => !known.has(word));
  return (
    exact.some(word => !known.has(word)) || (others.length >= topicsMin && others.length >= fresh.share * own.size)
  );
}

// What is left to do, by the numbers in a text: less of it than ever before is progress.

const bad = String.raw`(?:fail\w*|errors?|broken|red\b|left\b|remain\w*|to go\b|open\b|missing|warnings?|problems?|todo|unresolved|violations?|issues?|outstanding)`;
const good = String.raw`(?:pass\w*|green|done|finished|complete\w*|migrated|converted|ported|translated|fixed|covered|reviewed|processed|read|written)`;
const counts: readonly { readonly name: string; readonly pattern: RegExp; left(a: number, b: number): number }[] = [
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
  { name: '%', pattern: /(\d+(?:\.\d+)?) ?%/g, left: a => 100 - a },
  { name: 'done', pattern: new RegExp(String.raw`(\d+)(?: [a-z]+){0,2}? ${good}`, 'gi'), left: a => -a },
];

function leftIn(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { name, pattern, left } of counts)
    for (const [, a, b] of text.matchAll(pattern)) {
      const key = name === 'of' ? `of ${b}` : name;
      if (!found.has(key)) found.set(key, left(Number(a), Number(b)));
    }
  return found;
}

function hasFallen(text: string, before: readonly string[]): boolean {
  const earlier = before.map(leftIn);
  return [...leftIn(text)].some(([name, left]) => {
    const known = earlier.flatMap(one => one.get(name) ?? []);
    return known.length > 0 && known.every(value => left < value);
  });
}

// What an iteration brought, beside all before it.

interface Judged {
  readonly step: Step;
  /** Fewer failures, another answer of the check, a new item of the report. */
  readonly moved: boolean;
  /** Fewer failures, and not with files that stayed as they were. */
  readonly fell: boolean;
  readonly returned: boolean;
  readonly changed: boolean;
  readonly news: boolean;
  readonly barren: boolean;
}

const known = (texts: readonly (string | undefined)[]): readonly string[] =>
  texts.filter(text => text !== undefined && text !== '') as readonly string[];

/** Fewer failures, by its words or by the check. */
const hasFewer = ({ said, check = '' }: Step, before: readonly Step[], isSame: boolean): boolean =>
  hasFallen(said, known(before.map(one => one.said))) ||
  (!isSame && hasFallen(check, known(before.map(one => one.check))));

/** The check prints what it never printed, and no numbers say whether that is better. */
function hasOtherAnswer({ check = '' }: Step, before: readonly Step[]): boolean {
  const checks = known(before.map(one => one.check));
  return checks.length > 0 && check !== '' && leftIn(check).size === 0 && !checks.includes(check);
}

/** What failed without a word has its error to say. */
const wordsIn = ({ said, error = '' }: Step): string => (said === '' ? error : said);

/** The same words, whatever stands between them. */
const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Where files changed, a number that goes up (the fifth note) tells nothing of what they are; one that goes down is a count. */
const withoutNumbers = (text: string): string => text.replace(/(?<![\w./-])#?\d[\d.,:%]*(?![\w/])/g, ' ');

const isAmong = (said: string, texts: readonly string[]): boolean =>
  said !== '' && texts.some(one => plain(one) === plain(said));

const nothing = { moved: false, fell: false, returned: false, changed: false, news: false, barren: false } as const;

function judge(step: Step, before: readonly Step[]): Judged {
  const { tree, report = '' } = step;
  const said = wordsIn(step);
  const last = before.at(-1);
  // The first one is what the others are compared with.
  if (last === undefined) return { step, ...nothing };
  const isSame = tree !== undefined && tree === last.tree;
  const isBack = !isSame && tree !== undefined && before.some(one => one.tree === tree);
  const changed = tree !== undefined && !isSame && !isBack;
  const fewer = hasFewer(step, before, isSame);
  const isOther = changed && hasOtherAnswer(step, before);
  const moved = fewer || isOther || bringsNews(report, known(before.map(one => one.report)), false, 1);
  const texts = known(before.map(wordsIn));
  const isEqual = isAmong(said, texts);
  const news = !isEqual && (isSame ? bringsNews(said, texts, true) : bringsNews(withoutNumbers(said), texts, false, 1));
  const isIdle = isSame ? !news : isEqual || (tree === undefined && said === '');
  return {
    step,
    moved,
    fell: fewer && !isSame,
    returned: isBack && !moved,
    changed,
    news,
    barren: !moved && (isBack || isIdle),
  };
}

function judged(trail: readonly Step[]): readonly Judged[] {
  const recent = trail.slice(-windowSteps);
  const since = recent.slice(recent.findLastIndex(one => one.closed === true) + 1);
  return since.map((step, at) => judge(step, since.slice(0, at)));
}

/** How many at the end, one after another. */
function run(steps: readonly Judged[], holds: (one: Judged) => boolean): number {
  const at = steps.findLastIndex(one => !holds(one));
  return steps.length - 1 - at;
}

type Rule = (steps: readonly Judged[]) => Standstill | undefined;

const sameError: Rule = steps => {
  const error = steps.at(-1)?.step.error;
  if (error === undefined || error === '') return undefined;
  const count = run(steps, one => one.step.error === error && !one.moved);
  return count < 2
    ? undefined
    : { kind: 'same-error', asks: count >= sameErrorsMax, detail: `the same error ${count} times in a row` };
};

const back: Rule = steps => {
  const count = run(steps, one => one.returned);
  return count === 0
    ? undefined
    : {
        kind: 'oscillation',
        asks: count >= returnsMax,
        detail: 'the files are again as they were some iterations before',
      };
};

const nothingNew: Rule = steps => {
  const count = run(steps, one => one.barren);
  if (count === 0) return undefined;
  const asks = count >= barrenMax || steps.slice(-barrenOf.of).filter(one => one.barren).length >= barrenOf.count;
  const which = count === 1 ? 'the last iteration' : `the last ${count} iterations`;
  return { kind: 'similar', asks, detail: `nothing new in ${which}` };
};

const effectless: Rule = steps => {
  const count = run(steps, one => one.changed && !one.moved && !one.news && one.step.check !== undefined);
  if (count < barrenMax) return undefined;
  return { kind: 'churn', asks: count >= effectlessMax, detail: `the check says the same after ${count} changes` };
};

const churn: Rule = steps => {
  const count = run(steps, one => (one.changed || one.returned) && !one.moved);
  if (count < churnTold) return undefined;
  const last = steps.slice(-count);
  const isIdle = last.filter(one => one.news).length * 2 < count || last.every(one => one.step.check !== undefined);
  const asks = count >= (isIdle ? churnMax.idle : churnMax.telling);
  return {
    kind: 'churn',
    asks,
    detail: `the files changed ${count} times without a change in checks, tasks or report`,
  };
};

const rules: readonly Rule[] = [sameError, back, nothingNew, effectless, churn];

/** Whether a task stands still; newest iteration last. What asks goes before what is only told. */
export function findStandstill(trail: readonly Step[]): Standstill | undefined {
  const steps = judged(trail);
  const found = rules.flatMap(rule => rule(steps) ?? []);
  return found.find(one => one.asks) ?? found[0];
}

/** The newest iteration brought the task on: it is no used-up attempt. A check that refused it is believed before its words. */
export function isProgress(trail: readonly Step[]): boolean {
  const last = judged(trail).at(-1);
  if (last === undefined) return false;
  return last.fell || (last.changed && !last.barren && last.step.check === undefined && last.step.error === undefined);
}

/** It left other files than ever before, and its words tell what of. */
export function isNewWork(trail: readonly Step[]): boolean {
  const last = judged(trail).at(-1);
  return last?.changed === true && last.news;
}
