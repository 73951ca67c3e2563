// Words of the languages that agents write in, by what they do to a claim: they can take one back or explain one, never make one.

/** Words that stand free; `joined` are of scripts that put no blanks between words. */
function wordsOf(free: readonly string[], joined = '(?!)', end = ''): RegExp {
  return new RegExp(`(?:(?<![\\p{L}\\p{N}])(?:${free.join('|')})(?![\\p{L}\\p{N}])|${joined})${end}`, 'iu');
}

/** It says no. */
export const negates = wordsOf(
  [
    String.raw`not|no longer|never|\p{L}+n['’]t`,
    'nicht|nie|niemals|keine?[rsmn]?|niet|geen|nooit|inte|ingen|ikke|aldri|ei|eivät',
    String.raw`n['’]est|ne (?:\p{L}+ ){0,2}pas|pas encore|jamais|no (?:es|est[áa]|se|ha|he|hay|queda)|todavía no|aún no|nunca|non (?:è|ancora)|não|nao|ainda`,
    'nie|не|ещё|еще|нет|ще|není|ještě|değil|chưa|không phải|لم|ليس|ليست',
  ],
  '未|没有|沒有|尚|不是|還沒|还没|ない|ません|いない|않|아직|못했|안 (?:됐|끝)',
);

/** What a task is called that is not over. */
export const isOpen = wordsOf([
  String.raw`incomplete|unfinished|undone|partial\w*|pending|in progress|wip|to-?do|todo|blocked|stuck|half|almost|nearly|mostly|barely`,
  String.raw`fail\w*|broken?|breaks|crash\w*|regress\w*|revert\w*|roll(?:ed|ing|s)? back|red|wrong|missing|lack\w*|premature\w*|wait\w*|postponed|deferred`,
  String.raw`open(?! (?:a|an|the|pr|pull)\b)|(?:to|will|should|would|cannot|could not|must) be (?:complete\w*|done|finished)|yet to be|(?:another|more) (?:pass|iteration|round|work|try)`,
  'offen|unfertig|unvollständig|in Arbeit|fehlgeschlagen|rot|kaputt|blockiert|halb|fast|fehlt',
  'ouverte?|incompl[eè]te?|en cours|échoue|manque|presque|abiert[ao]|incomplet[ao]|en curso|pendiente|falla|falta|casi',
  'apert[ao]|incomplet[ao]|in corso|manca|quasi|abert[ao]|em andamento|falha|quase|onvolledig|bezig|mislukt|bijna|открыта?|падает|почти|осталось',
]);

/** What stands beneath is so only then. */
export const isCondition = wordsOf(
  [
    "when|once|until|unless|if|would|cannot|can['’]t|won['’]t|example|as soon as|provided",
    'wenn|sobald|falls|sofern|erst|bis|quand|lorsque|dès que|une fois|cuando|hasta que|en cuanto|una vez',
    'quando|appena|finché|assim que|als|zodra|pas als|totdat|gdy|jeśli|kiedy|dopóki|när|når|eğer|если|когда|как только|пока|якщо|коли',
  ],
  '如果|等到|之后|之後|たら|れば|とき|まで|(?<=\\p{L})면 |때까지',
);

/** What a heading calls the things that are still to be done, or to be said. */
export const isAgenda = wordsOf(
  [
    'next|to[- ]?do|still|remaining|open|pending|left|plan(?:ned)?|expected|format|template|draft|say|write|print|reply|add',
    'offen|noch|nächste[rsn]?|ausstehend|geplant|beispiel|entwurf|reste|restante?s?|à faire|prochaine?s?|exemple|brouillon',
    'pendientes?|siguientes?|próxim[ao]s?|por hacer|falta|ejemplo|da fare|prossim[ai]|rimanenti?|pendentes?|falta|nog|volgende|te doen',
    'kvar|nästa|осталось|далее|следующ\\p{L}+|план|пример|zbývá|zostało|dalej|kalan|sıradaki',
  ],
  '剩余|剩餘|待办|待辦|下一步|计划|計画|残り|次|予定|남은|다음|예정',
);

/** A line that ends so, without a stop, is taken up by the one right below. No single letter: output that was cut ends so too. */
export const leadsIn = wordsOf(
  [
    "either|or|and|that|is|it['’]s|be|as|the|says|called",
    String.raw`(?:i|you|it|we|to|not|cannot|\p{L}+['’](?:t|ll|d)|will|would|can|may|shall|should|then|only) (?:say|write|print|output|emit|reply|read|post|send|put)`,
    'dass|oder|und|ist|schreibe|schreiben|heißt|lautet|mit|que|ou|et|est|écris|écrire|es|escribo|escribir|como|che|scrivo|is|dat|что|или',
  ],
  '(?!)',
  '[*_]*$',
);

/** A line that begins so, in small letters, goes on with the sentence above it. */
export const goesOn = new RegExp(
  `^[\\s…._*-]*(?:${[
    'once|when|if|but|except|until|unless|after|as (?:soon|long) as|provided|pending|apart from|only|or|nor|yet|though|although|even|while|because',
    "is(?:n['’]t)?|was(?:n['’]t)?|would(?:n['’]t)?|will|won['’]t|should|could|cannot|can['’]t|may|might|must|does(?:n['’]t| not)|holds?|stands?|applies",
    'aber|oder|wenn|sobald|falls|sofern|erst|bis|außer|ist|wäre|war|wird|gilt|mais|sauf|si|quand|dès|est|serait|sera|pero|salvo|cuando|es|sería|será',
    'ma|se|quando|è|sarebbe|mas|exceto|seria|maar|zodra|als|men|но|если|когда|кроме|пока',
  ].join('|')})(?![\\p{L}\\p{N}'’-])`,
  'u',
);

// A line behind a claim, without its id, that takes it back: by how it begins.

const stop = '\\s*(?:[,.:;!…—–]|\\s-)';
const turns = [
  '(?:strike|scratch|disregard|ignore|forget|retract|withdraw) (?:that|this|it|the (?:above|line|claim))',
  '(?:i|we) (?:was|were) (?:wrong|mistaken|too)|(?:i|we) (?:spoke|said (?:that|it)|claimed (?:that|it)) too|(?:i|we) (?:must |have to )?take (?:that|it|this) back',
  '(?:hold on|on second thoughts?|never ?mind|my mistake|false alarm|not so fast|not (?:quite )?true|no,? wait|wait,? no|actually,? no)',
  `(?:hmm+|wait|oops|whoops|correction|erratum|nope|no)${stop}`,
  `(?:korrektur|berichtigung|moment|halt|nein|doch nicht|stimmt nicht|das war zu früh|correctie|wacht|nee|toch niet|rättelse|vänta|rettelse|vent)${stop}`,
  `(?:non|attendez|attends|erreur|corrección|no,|espera|perdón|me equivoqué|correzione|aspetta|mi sbagliavo|correção|espera|enganei-me)${stop}`,
  `(?:нет|поправка|стоп|исправление|ошибка|ні|виправлення|korekta|poprawka|oprava|pozor|nie|ne|düzeltme|hayır)${stop}`,
  '更正|等等|不对|不對|訂正|待って|すみません|いや|정정|잠깐|아니',
];
const begins = new RegExp(`^[^\\p{L}\\p{N}]*(?:${turns.join('|')})`, 'iu');
const beginsPerhaps =
  /^[^\p{L}\p{N}]*(?:update|edit|oh|well|but|sorry|actually|nachtrag|aber|pero|mais|ma|mas|maar|но|однако)(?![\p{L}\p{N}])/iu;

const isRed =
  /\b(?:tests?|specs?|checks?|suites?|builds?|lint\w*|ci|pipeline|cases?|criteri(?:a|on)|it|that)\b[^.;,]{0,30}\b(?:(?:is|are|still|remains?) (?:\w+ )?(?:red|failing|broken|unmet|missing)|still (?:fails?|breaks?|lacks?|crash\w*))\b/i;
const isElsewhere =
  /\b(?:no|none|0|zero|unrelated|pre-?existing|already|before|any ?more|no longer|flaky|expected|known|if|when|where|without|would|elsewhere|other|main)\b/i;

/** Whether a line says that what was claimed above it is not so. */
export const takesBack = (line: string): boolean =>
  begins.test(line) ||
  (isRed.test(line) && !isElsewhere.test(line)) ||
  (beginsPerhaps.test(line) && (negates.test(line) || isOpen.test(line)));

/** It is over, in the words for it. */
export const isOver = new RegExp(
  [
    'complet|done|finish|implemented|resolved|closed|shipped|concluded|wrapped up|satisfied|fulfilled|ready',
    'criteria (?:are |is )?met|nothing (?:is |more |else )?(?:left|remains|to do)',
    'fertig|erledigt|abgeschlossen|vollendet|umgesetzt|klaar|afgerond|voltooid|klar|färdig|ferdig|færdig|valmis',
    'termin|fini|achev|conclu|hech[oa]|list[oa]|acabad|pront[oa]|finit|tamamla|bitti|hoàn thành|xong|kész|gata',
    'ukończ|gotow|skończ|hotov|dokonč|готов|выполнен|заверш|закончен|виконан|اكتمل|تم|הושלם',
    '完了|完成|终了|結束|结束|完毕|できました|終わりました|완료|끝났|[\\u2705\\u2611\\u2713\\u2714]',
  ].join('|'),
  'iu',
);
