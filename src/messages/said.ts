// The comparable part of a text: without times, ids, ports and temporary paths, which differ from run to run. Numbers, names and other paths are news.

const normalisedCharsMax = 1_000;
/** More than this from either end cannot reach the result. */
const readCharsMax = 16_384;

const ansi = /\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)|[@-Z\\^_])/g;
const month =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';

/** In this order. None leaves a digit behind, so that another pass finds nothing more to do. */
const blanks: readonly (readonly [RegExp, string])[] = [
  [/(?:file:\/\/)?(?:\/private)?\/(?:tmp|var\/tmp|var\/folders)\/[^\s"'`()[\]{}<>,;|]+/gi, '~'],
  [/[a-z]:\\[^\s"'`()[\]{}<>,;|]{0,120}\\te?mp\\[^\s"'`()[\]{}<>,;|]+/gi, '~'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '#'],
  [/\b0x[0-9a-f]+\b/gi, '#'],
  [/\b(?=[a-f]{0,63}[0-9])(?=[0-9]{0,63}[a-f])[0-9a-f]{7,64}\b/gi, '#'],
  [
    /\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[t ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:z|[+-][0-9]{2}:?[0-9]{2})?)?/gi,
    '#',
  ],
  [/\b(localhost|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[?::1\]?):[0-9]{2,5}\b/gi, '$1:#'],
  [/(?<![\w.:/])[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?\b(?: ?[ap]\.?m\b)?/gi, '#'],
  [new RegExp(`\\b(?:[0-9]{1,2}\\.? )?${month}\\b\\.?,? [0-9]{1,2}(?:st|nd|rd|th)?\\b(?:,? [0-9]{4}\\b)?`, 'gi'), '#'],
  [/\b(port|pid|process|thread|seed)([ =:#]{1,2})[0-9]+\b/gi, '$1$2#'],
  [/\b(attempt|iteration|retry|try)( (?:no\.? ?|number )?#?)[0-9]+(?:(?: of |\/)[0-9]+)?/gi, '$1$2#'],
  [
    /\b[0-9]+(?:[.,][0-9]+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?)\b(?! (?:to go|left|remaining)\b)(?: ago\b)?/gi,
    '#',
  ],
  [/\b[0-9]+(?:m|h|s)(?= ?#|\b)/gi, '#'],
  [/\b[0-9]{10,}\b/g, '#'],
  [/#(?: ?#)+/g, '#'],
  [/[\s\p{Cc}]+/gu, ' '],
];

function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = charsMax >> 1;
  const head = text.slice(0, half).trimEnd();
  const tail = text.slice(text.length - half + 1).trimStart();
  return `${head} ${tail}`.toWellFormed();
}

const blanked = (text: string): string =>
  blanks.reduce((left, [pattern, by]) => left.replace(pattern, by), text).trim();

/** The text without colours, times, ids, ports, temporary paths and spacing; bounded. */
export function comparable(text: string): string {
  let [before, after] = ['', cut(text, readCharsMax).replace(ansi, '')];
  // What is cut or blanked can bring a number and its unit together: each pass has fewer digits than the one before.
  while (after !== before) [before, after] = [after, cut(blanked(after), normalisedCharsMax)];
  return after;
}

/** Its last paragraph begins like an error of a program: such words end no work, whatever the exit code is. */
export function endsInError(text: string): boolean {
  const last =
    text
      .trim()
      .split(/\n\s*\n/)
      .at(-1) ?? '';
  return /^(?:\S+: )?(?:(?:api|fatal|internal|type|reference|syntax|runtime) ?)?(?:error|exception|fatal|panic|traceback)\b/i.test(
    last.trim(),
  );
}
