// Words of the languages that agents write in, by what they do to a claim: they can take one back or explain one, never make one.

import { type LatePattern, latePattern } from '../text/late-pattern.ts';

/** Words that stand free; `joined` are of scripts that put no blanks between words. */
function wordsOf(free: readonly string[], joined = '(?!)', end = ''): LatePattern {
  return latePattern(() => `(?:(?<![\\p{L}\\p{N}])(?:${free.join('|')})(?![\\p{L}\\p{N}])|${joined})${end}`, 'iu');
}

/** It says no. */
export const negates = wordsOf(
  [
    String.raw`not|no longer|never|\p{L}+n['’]t`,
    'nicht|nie|niemals|keine?[rsmn]?|niet|geen|nooit|inte|ingen|ikke|aldri|ei|eivät',
    String.raw`n['’]est|ne (?:\p{L}+ ){0,2}pas|pas encore|jamais|no (?:es|est[áa]|se|ha|he|hay|queda)|todavía no|aún no|nunca|non (?:è|ancora)|não|nao|ainda`,
    'nie|nadal|не|ещё|еще|нет|ще|není|ještě|değil|henüz|chưa|không phải|لم|ليس|ليست',
  ],
  '未|没有|沒有|尚|不是|還沒|还没|ない|ません|いない|않|아직|못했|안 (?:됐|끝)',
);

/** What a task is called that is not over. */
export const isOpen = wordsOf([
  String.raw`incomplete|unfinished|unmet|undone|partial\w*|pending|in progress|wip|to-?do|todo|blocked|stuck|half|almost|nearly|mostly|barely`,
  String.raw`fail\w*|broken?|breaks|crash\w*|regress\w*|revert\w*|roll(?:ed|ing|s)? back|red|wrong|missing|lack\w*|premature\w*|wait\w*|postponed|deferred`,
  String.raw`open(?! (?:a|an|the|pr|pull)\b)|(?:to|will|should|would|cannot|could not|must) be (?:complete\w*|done|finished)|yet to be|(?:another|more) (?:pass|iteration|round|work|try)`,
  'offen|unfertig|unvollständig|in Arbeit|fehlgeschlagen|rot|kaputt|blockiert|halb|fast|fehlt',
  'ouverte?|incompl[eè]te?|en cours|échoue|manque|presque|abiert[ao]|incomplet[ao]|en curso|pendiente|falla|falta|casi',
  'apert[ao]|incomplet[ao]|in corso|manca|quasi|abert[ao]|em andamento|falha|quase|onvolledig|bezig|mislukt|bijna|открыта?|падает|почти|осталось',
]);

/** What stands beneath is so only then. */
export const isCondition = wordsOf(
  [
    "when|once|until|unless|if|would|cannot|can['’]t|won['’]t|not yet|expects|wants|example|draft|template|planned|as soon as|provided",
    'wenn|sobald|falls|sofern|erst|bis|quand|lorsque|dès que|une fois|cuando|hasta que|en cuanto|una vez',
    'quando|appena|finché|assim que|als|zodra|pas als|totdat|gdy|jeśli|kiedy|dopóki|när|når|eğer|если|когда|как только|пока|якщо|коли',
  ],
  '如果|等到|之后|之後|たら|れば|とき|まで|(?<=\\p{L})면 |때까지|^\\W*(?:after|before|nach|après|después de|dopo) ',
);

/** What a heading calls the things that are still to be done, or to be said. */
export const isAgenda = wordsOf(
  [
    'next|to[- ]?do|still|remaining|open|pending|left|plan(?:ned)?|expected|format|template|draft|message|quote|say|write|print|reply|add',
    'offen|noch|nächste[rsn]?|ausstehend|geplant|beispiel|entwurf|reste|restante?s?|à faire|prochaine?s?|exemple|brouillon',
    'pendientes?|siguientes?|próxim[ao]s?|por hacer|falta|ejemplo|da fare|prossim[ai]|rimanenti?|pendentes?|falta|nog|volgende|te doen',
    'kvar|nästa|осталось|далее|следующ\\p{L}+|план|пример|zbývá|zostało|dalej|kalan|sıradaki',
  ],
  '剩余|剩餘|待办|待辦|下一步|计划|計画|残り|次|予定|남은|다음|예정',
);

/** A line that ends so, without a stop, is taken up by the one right below. No single letter: output that was cut ends so too. */
export const leadsIn = wordsOf(
  [
    "either|or|and|that|is|it['’]s|be|as|the|says|called|(?:end|close|finish|begin) with",
    String.raw`(?:i|you|it|we|to|not|cannot|\p{L}+['’](?:t|ll|d)|will|would|can|may|shall|should|then|only) (?:say|write|print|output|emit|reply|read|post|send|put)`,
    'dass|oder|und|ist|schreibe|schreiben|heißt|lautet|mit|que|ou|et|est|écris|écrire|es|escribo|escribir|como|che|scrivo|is|dat|что|или',
  ],
  '(?!)',
  '[*_]*$',
);

/** A line that begins so, in small letters, goes on with the sentence above it. */
export const goesOn = latePattern(
  () =>
    `^[\\s…._*-]*(?:${[
      'and (?:I|we|only|that|then)|once|when|if|but|except|until|unless|after|as (?:soon|long|far) as|in (?:the sense|so far)|insofar|provided|pending|apart from|only|or|nor|yet|though|although|even|while|because',
      "is(?:n['’]t)?|was(?:n['’]t)?|would(?:n['’]t)?|will|won['’]t|should|could|cannot|can['’]t|may|might|must|does(?:n['’]t| not)|holds?|stands?|applies",
      'aber|oder|wenn|sobald|falls|sofern|erst|bis|außer|ist|wäre|war|wird|gilt|mais|sauf|si|quand|dès|est|serait|sera|pero|salvo|cuando|es|sería|será',
      'ma|se|quando|è|sarebbe|mas|exceto|seria|maar|zodra|als|men|но|если|когда|кроме|пока',
    ].join('|')})(?![\\p{L}\\p{N}'’-])`,
  'u',
);

// A line behind a claim, without its id, that takes it back: by how it begins.

const stop = '\\s*(?:[,.:;!…—–]|\\s-)';
const turns = [
  '(?:please )?(?:strike|scratch|disregard|ignore|forget|retract|withdraw) (?:that|this|it|the (?:above|line|claim))',
  '(?:i|we) (?:was|were) (?:wrong|mistaken|too)|(?:(?:i|we) )?(?:spoke|said (?:that|it)|claimed (?:that|it)) too|(?:i|we) (?:must |have to )?take (?:that|it|this|the above) back',
  '(?:hold on|on second thoughts?|never ?mind|my mistake|false alarm|not so fast|(?:just )?kidding|no,? wait|wait,? no|actually,? no)',
  "not (?:quite|really|yet|true)(?!\\p{L})|(?:this|that) is (?:wrong|false|not (?:true|so))|(?:i|we) (?:cannot|can['’]t|may not) (?:claim|say|write) (?:that|this|it)",
  '(?:the )?above\\W+(?:is )?(?:no|not|wrong)\\b|(?:the |this |my )?(?:line|claim|statement)(?: above)? (?:is|was) (?:a|an|not|wrong|only|just|no|premature|too early)\\b',
  `(?:hmm+|wait|oops|whoops|correction|erratum|revoked|withdrawn|nope|no|almost|nearly|partially|partly)(?:${stop}|$)`,
  `(?:korrektur|berichtigung|moment|halt|nein|doch nicht|stimmt nicht|das war zu früh|correctie|wacht|nee|toch niet|rättelse|vänta|rettelse|vent)${stop}`,
  `(?:non|attendez|attends|erreur|corrección|rectificación|no,|espera|perdón|me equivoqué|correzione|aspetta|mi sbagliavo|correção|espera|enganei-me)${stop}`,
  `(?:нет|поправка|стоп|исправление|ошибка|ні|виправлення|korekta|poprawka|oprava|pozor|nie|ne|düzeltme|hayır)${stop}`,
  '更正|等等|不对|不對|訂正|待って|すみません|いや|정정|잠깐|아니',
];
const begins = latePattern(() => `^[^\\p{L}\\p{N}]*(?:${turns.join('|')})`, 'iu');

/** Somebody thinks again, and takes it back where he then says no. */
const thinksAgain = latePattern(
  () =>
    `^[^\\p{L}\\p{N}]*(?:(?:${[
      'update|edit|oh|well|but|sorry|actually|in fact|in truth|that said|on reflection|however|honestly|unfortunately',
      'nachtrag|aber|leider|eigentlich|tatsächlich|genau genommen|pero|en realidad|mais|en fait|en réalité|ma|in realtà|mas|na verdade',
      'maar|eigenlijk|egentligen|egentlig|но|однако|на самом деле|вообще-то|prawdę mówiąc|w rzeczywistości|właściwie|ve skutečnosti|aslında',
    ].join('|')})(?![\\p{L}\\p{N}])|实际上|事实上|其实|實際上|実は|実際|실은|사실)`,
  'iu',
);

const judged = String.raw`\b(?:tests?|specs?|checks?|suites?|builds?|lint\w*|ci|pipeline|cases?|criteri(?:a|on)|it|that)\b[^.;,]{0,30}\b`;
const unmet = latePattern(
  () =>
    [
      `${judged}(?:(?:is|are|still|remains?) (?:\\w+ )?(?:red|failing|broken|unmet|missing|not (?:met|finished|complete|done))|still (?:fails?|breaks?|lacks?|crash\\w*))\\b`,
      `${judged}(?:does|do|did)(?: not|n['’]t) (?:compile|pass|build|run|start)\\b|${judged}exits with (?:code )?[1-9]`,
      '\\b[1-9]\\d* (?:tests? |specs? |checks? )?(?:failed|failing|fails?|red)\\b',
      '^\\W*(?:one|two|three|\\d+) (?:things?|points?|criteri\\w+|steps?) (?:is|are) (?:still )?(?:left|missing|open)\\b',
      '^\\W*what (?:is|remains) (?:still )?(?:left|missing|open)? ?is\\b',
      '^\\W*status\\W+(?:in progress|not |open|partial|pending|blocked|incomplete|[0-9]+ (?:of|out of|/) )',
    ].join('|'),
  'i',
);
/** `Still to do: tests.`, `TODO: the error case` */
const stillOpen =
  /^[^\p{L}\p{N}[]*(?:still (?:to do|open|missing|left)|to-?do|remaining|missing|open|unfinished|blocked|offen|noch offen|reste à faire|pendiente|falta)\b[*_]*: *\S/iu;
const isElsewhere =
  /\b(?:no|none|nothing|nichts|keine|rien|nada|0|zero|unrelated|pre-?existing|already|before|any ?more|no longer|flaky|expected|known|if|when|where|without|would|elsewhere|other|main|stories|backlog|(?:[a-z]+-)+\d+)\b/i;
const openBox = /^(?:[-*+]|\d{1,9}[.)]) +\[ ?\] /;
const openHeading =
  /^[^\p{L}\p{N}]*(?:still (?:to do|open|missing|left)|to-?do|remaining|missing|open|unfinished|offen|noch offen|pendiente)\b[*_]*:[*_]*$/iu;

/** Whether a line says that what was claimed above it is not so: by itself, beneath a heading of what is open, or as an open box right below. */
export function takesBack(line: string, above: string, isBelowClaim: boolean): boolean {
  if (begins.test(line)) return true;
  if (thinksAgain.test(line)) return negates.test(line) || isOpen.test(line);
  const isSo =
    (isBelowClaim && openBox.test(line)) || openHeading.test(above) || stillOpen.test(line) || unmet.test(line);
  return isSo && !isElsewhere.test(line);
}

/** It is over, in the words for it. */
export const isOver = latePattern(
  () =>
    [
      'complet|done|finish|implemented|resolved|clos(?:ed|ing)|shipped|concluded|accomplished|wrapped up|satisfied|fulfilled|ready|good to go|all set',
      'criteria\\b.{0,30}\\bmet|nothing (?:is |more |else )?(?:left|remains|to do)',
      'fertig|erledigt|abgeschlossen|vollendet|umgesetzt|klaar|afgerond|voltooid|klar|färdig|ferdig|færdig|valmis|tehty',
      'termin|fini|achev|conclu|hech[oa]|list[oa]|acabad|pront[oa]|finit|tamamla|bitti|hoàn thành|xong|kész|gata',
      'ukończ|gotow|skończ|hotov|dokonč|готов|выполнен|заверш|закончен|виконан|اكتمل|تم|הושלם',
      '完了|完成|终了|結束|结束|完毕|できました|終わりました|완료|끝났|[\\u2705\\u2611\\u2713\\u2714]',
    ].join('|'),
  'iu',
);
