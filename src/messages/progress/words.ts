// Words of an iteration: which of them name something, what they name anew, and whether several texts circle round one thing.
import { remembered } from '../../text/remembered.ts';

// Promises and excuses say nothing, and so do the words that every such message has.

const intent =
  /\b(?:i['’]?ll|i will|we will|going to|let me|let['’]s|will (?:now|then|next)|about to|(?:i|we) plan|plan(?:ning)? to|intend|should|need(?:s|ed)? to|(?:ready|prepared|want|time|remains) to|next|soon|shortly|would|(?:start|begin|proceed|mov|jump|head|gett)ing|begins?|(?:could|can|did|do|does)(?:n['’]t| not)|cannot|can['’]t|unable|still|again|same|blocked|stuck|waiting|no (?:luck|progress|change|way|access|idea)|thanks?|sorry|apolog\w+|happy to|glad)\b|\?$/i;
/** In files that are as they were this is said, but was not done. */
const claimsWork = /\b(?:implemented|fixed|wrote|created|added|updated|refactored|edited|modified)\b/i;

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
const factsOf = remembered((said: string, isIdle: boolean): Facts => {
  const telling = sentences(said).filter(one => !intent.test(one) && !(isIdle && claimsWork.test(one)));
  const words = telling.flatMap(sentence =>
    wordsOf(sentence).map((word, at) => ({ word, key: keyOf(word), isExact: isExact(word, at) })),
  );
  const substance = words.filter(({ key }) => key !== '' && !isGeneric(key));
  return {
    exact: substance.filter(one => one.isExact).map(one => one.key),
    topics: substance.filter(one => !one.isExact && one.word.length >= 3).map(one => one.key),
  };
});

/** How much of the words of substance must be new: one alone may be another word for the same. */
const fresh = { topicsMin: 2, share: 0.4 } as const;

/** It names something that no text before it named: anything exact, or several words of substance. */
export function bringsNews(
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

/** The same words, whatever stands between them. */
const plain = remembered(text =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim(),
);

export const isAmong = (said: string, texts: readonly string[]): boolean =>
  said !== '' && texts.some(one => plain(one) === plain(said));

/** Where files changed, a number that goes up (the fifth note) tells nothing of what they are; one that goes down is a count. */
export const withoutNumbers = (text: string): string => text.replace(/(?<![\w./-])#?\d[\d.,:%]*(?![\w/])/g, ' ');

/** Where words have no blanks between them, two characters are one. */
const unspaced = /(?=([\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{2}))/gu;

/** What a text names, in whichever sentence: `hard` are numbers, paths and identifiers; of words the beginning counts. */
const namesOf = remembered(
  (said: string): { readonly hard: ReadonlySet<string>; readonly all: ReadonlySet<string> } => {
    const words = wordsOf(said).map(word => ({ word, key: keyOf(word) }));
    const named = words.filter(({ key }) => key !== '' && !isGeneric(key));
    const exact = named.filter(({ word }) => isExact(word, 0)).map(({ key }) => key);
    const hard = exact.flatMap(key => [key, key.slice(key.lastIndexOf('/') + 1)]);
    const plainWords = named.filter(({ word }) => word.length >= 3).map(({ key }) => key.slice(0, 6));
    const pairs = [...said.matchAll(unspaced)].map(([, pair]) => pair as string);
    return { hard: new Set(hard), all: new Set([...hard, ...plainWords, ...pairs]) };
  },
);

/** Four out of five texts. */
const mostOf = (count: number): number => count - Math.max(1, Math.floor(count / 5));

/** In how many of these texts, after the first, a number, a path or an identifier is new. */
function additions(named: readonly ReturnType<typeof namesOf>[]): number {
  const known = new Set(named[0]?.hard);
  return named.slice(1).filter(({ hard }) => {
    const isAdding = [...hard].some(key => !known.has(key));
    for (const key of hard) known.add(key);
    return isAdding;
  }).length;
}

/** Nearly all texts name one thing, or none of many anything new; and it is no list in which each adds an item of its own. */
export function circles(texts: readonly string[], additionsMax: number): boolean {
  const labels = texts.flatMap(text => /^\S{1,60}:/.exec(text) ?? []);
  if (new Set(labels).size === texts.length) return false;
  const named = texts.map(text => namesOf(text));
  const added = additions(named);
  if (texts.length > 4 && added === 0) return true;
  const times = new Map<string, number>();
  for (const { all } of named) for (const key of all) times.set(key, (times.get(key) ?? 0) + 1);
  return added <= additionsMax && [...times.values()].some(count => count >= mostOf(texts.length));
}

const paper =
  /\b(?:plan|notes?|journal|diary|worklog|log|todo|progress|roadmap|draft|proposal|design|questions?|outline|backlog|status|changelog|memo|summary|recommendation)s?\b/i;

/** Nearly all texts speak of notes and plans, the paper of the work. */
export const areOfPaper = (texts: readonly string[]): boolean =>
  texts.filter(text => paper.test(text)).length >= mostOf(texts.length);

/** Words that every such message has, whatever it is about. */
function isGeneric(key: string): boolean {
  genericWords ??= readGeneric();
  return genericWords.has(key);
}

let genericWords: ReadonlySet<string> | undefined;
const readGeneric = () =>
  new Set(
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
