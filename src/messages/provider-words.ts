// Words of providers, networks and agent CLIs about a failure: one ordered table for all agents, and the lines that say them.

export type Trouble =
  | 'context-too-long'
  | 'billing'
  | 'rate-limit'
  | 'auth'
  | 'model'
  | 'overloaded'
  | 'connection'
  | 'permission'
  | 'resource-limit'
  | 'spawn';

/** One expression of many; none of them can match in more than linear time. */
const any = (...parts: readonly string[]): RegExp => new RegExp(parts.join('|'), 'i');

/** An HTTP status that is named as one: `429 Too many`, `HTTP/2 429`, `status code: 429`, `"code":429`, `(429)`. */
const status = (codes: string): string =>
  `(?:^|[(:|]\\s{0,2}|\\b(?:error|fehler|erreur|status|code|http(?:/[\\d.]+)?)["']?[ :=(]{0,3}(?:code[ :=]{1,3})?)(?:${codes})(?![\\w%-]|[.,]\\d|\\s?(?:ms|sec|bytes|tokens)\\b)`;

/** Ordered: the first row that holds names the trouble, so what is more exact stands first. */
const table: readonly (readonly [Trouble, RegExp])[] = [
  [
    'resource-limit',
    any(
      'out of memory|\\benomem\\b|heap limit|cannot allocate memory|\\bmemoryerror\\b|bad_alloc|\\boom[- ]kill',
      'memory allocation of \\d+ bytes|more (?:system )?memory|newosproc|new os thread|resource temporarily unavailable|failed to spawn thread',
      '\\benospc\\b|no space left on device|disk quota exceeded|\\bemfile\\b|\\benfile\\b|too many open files',
    ),
  ],
  // Of a window that opens again: "too large" and "quota" of so many per minute are no matter of context or money.
  [
    'rate-limit',
    any(
      '(?:tokens|requests) per (?:min|day|hour)|per[-_]minute|perday|free-models-per|quota metric',
      'throttling|too many tokens,? please wait',
      '(?:hit|reached|exceeded) your (?:specified )?(?:api )?usage limits?|usage limit (?:has been |was )?reached',
    ),
  ],
  [
    'context-too-long',
    any(
      'context[_ -]?(?:length|window|limit)[_ ]?(?:is |was )?(?:exceeded|overflow|full|reached)|contextoverflow|configured context|context length of',
      'maximum context|context size|exceed context limit|maximum model length|model token limit',
      'exceeds? (?:the |its )?(?:maximum )?(?:context|number of tokens|token limit)|exceeds? the maximum number of tokens',
      '(?:prompt|input|request|conversation|message) (?:is|was|were) too (?:long|large|big)|payload size exceeds|request_too_large|payload too large',
      'request exceeds the maximum|maximum allowed content length|entity too large|many-image requests',
      'too many (?:input |total )?tokens|input (?:token count|length)|prompt token count|max_prompt_tokens',
      "room in the model's context|reduce the length of|longer than the (?:maximum|model)",
      status('413'),
    ),
  ],
  ['overloaded', any('overloaded')],
  [
    'billing',
    any(
      'insufficient[_ ](?:quota|balance|funds|credits?|account balance)|credit balance|budget (?:has been )?exceeded',
      '(?:out of|no|not enough|more|add|purchase|exhausted|remaining|included|available) credits?\\b',
      'credits? (?:have |has )?(?:run out|exhausted|depleted|expired|required)|you can only afford',
      'payment[_ ](?:required|method)|unpaid|arrearage|overdue|topping up|top up|recharge your',
      'check your plan and billing|account is not active|in good standing|membership|key limit',
      'billing[_ ](?:error|hard|account|details|issue|not|to be|is|has|disabled|service)',
      'spend(?:ing)? (?:limit|cap)|usage_not_included|to use \\w+ with your [\\w ]{1,30}plan',
      'free (?:\\w+ )?quota (?:has been |was |is )?(?:exceeded|exhausted|used)',
      status('402'),
    ),
  ],
  [
    'rate-limit',
    any(
      'rate[_ -]?limit(?!ing|ers?\\b)|too[_ ]?many[_ ]?requests|quota|limit will reset|premium request allowance|out of (?:extra )?usage',
      '(?:usage|session|weekly|daily|hourly|hour|monthly|request|message|plan|account) limits?(?:[_ ](?:has been |was |is |been )?(?:reached|exceeded|hit))?',
      '(?:hit|reached|exceeded) (?:your|the|its) (?:[\\w-]+ )?(?:limit|quota|allowance|allocation)|limit (?:has been |was )?reached',
      'used (?:up )?(?:all|every) [\\w ]{0,20}(?:messages|requests|tokens|calls)|resource[_ ]?(?:has been )?exhausted',
      status('429'),
    ),
  ],
  [
    'model',
    any(
      'requested entity was not found|model[_ ]?(?:was |is )?not[_ ]?(?:found|exist)|no such model|try pulling it first|no endpoints found|no allowed providers|no models? loaded',
      '(?:invalid|unknown|unsupported|unrecognized) model|not a valid model|model identifier|does not support tools|model requires a newer',
      'issue with the selected model|on-demand throughput|access to (?:the|this) (?:specified |requested )?model',
      'deploymentnotfound|deployment for this resource does not exist|does not exist or you (?:do not|don.t) have access',
      '\\bmodels?\\b(?:[^.]|\\.(?=\\S)){0,80}? (?:does not exist|not found|is not (?:found|supported|available)|was not found|not supported|has been (?:deprecated|decommissioned|retired|discontinued)|is (?:deprecated|unavailable))',
      '^(?:api error: )?(?:404 )?(?:\\{.{0,80})?"?model: |["\']message["\']: ?["\']model: ',
    ),
  ],
  ['connection', any('proxy authentication|tunneling socket', status('407|408'))],
  [
    'auth',
    any(
      '(?:invalid|incorrect|missing|expired|wrong|bad|malformed|revoked|no)[_ ](?:or (?:missing|invalid|expired)[_ ])?(?:x-)?(?:api|access|subscription|auth(?:entication)?)[_ -]?(?:key|token|credentials?|header)',
      'missing \\w+ api key|api[_ ]key (?:is |was )?(?:not|missing|invalid|expired|required|revoked|disabled)|api_key_invalid|api_key client option',
      'variable[^.]{0,20}(?:api_?key|token)|set the \\w*api_key',
      'auth(?:entication|orization)?[_ ]?error|error authenticating|authentication timed out|access denied|not authorized|user not found|auth(?:entication|orization)?[_ ](?:has )?(?:failed|fails|required|is required|information|credentials|method)',
      '(?:ensure|verify) your (?:api keys?|credentials)|fail(?:ed|ure) to authenticate|invalid[_ ](?:authentication|grant|bearer|client)',
      '\\b(?:unauthenticated|unauthorized|unauthorised|forbidden)\\b|accessdenied|permission_error|permission_denied|permissiondenied|does not have permission',
      'not (?:logged|signed) in|logged out|fail(?:ed|ure) to log ?in|(?:please |/)log ?in\\b|(?:sign|log) in again|login again|run [`"]?\\w+ (?:auth )?login|auth method',
      '\\btoken (?:has |is |was )?(?:been )?(?:expired|revoked|invalid)|token could not be refresh|refresh token (?:was|is|has)|token_expired|expired ?token|session (?:has )?expired|could not be refreshed',
      'locate credentials|load (?:the )?(?:default |aws )?credentials|credentials? (?:were |was )?not found|(?:no|missing) ?credentials|defaultcredentials',
      'security token|sso token|from sso|unrecognizedclient|invalidclienttoken|incompletesignature|signaturedoesnotmatch',
      'access to claude|access (?:was |has been )?(?:terminated|revoked)|access is disabled|disabled [\\w ]{0,20}access|organization has been disabled|territory not supported',
      status('401|403'),
    ),
  ],
  ['spawn', any('\\bspawn \\S+ (?:enoent|eacces)')],
  [
    'permission',
    any(
      '\\beacces\\b|\\beperm\\b|\\berofs\\b|permissionerror|access is denied|errno (?:13|30)\\b|os error 13\\b|read-only file system',
      // Tools that walk over files complain of single ones.
      '^(?!(?:find|du|ls|grep|rg|tar|rsync|chown|chmod): ).*(?:permission denied|operation not permitted)\\W*$',
    ),
  ],
  ['overloaded', any(status('5\\d\\d'))],
  [
    'connection',
    any(
      '\\b(?:econn(?:refused|reset|aborted)|etimedout|enotfound|eai_again|ehostunreach|enetunreach|enetdown|epipe)\\b|\\bund_err_',
      'fetch failed|failed to fetch|network[_ ](?:error|is (?:unreachable|down)|request failed|connection|unreachable)|networkerror',
      'connect(?:ion)?[_ ]?(?:error|refused|reset|failed|closed|aborted|timed ?out|timeout|lost|was (?:closed|reset|refused))|incompletemessage',
      '(?:unable|failed|could not|couldn.t|cannot|can.t) (?:to )?(?:connect|reach|resolve|establish)',
      'error sending request|transport error|error decoding response body|error while dialing',
      'stream (?:disconnected|closed|error|ended)|socket (?:hang up|connection|closed|disconnected)|sse stream|not closed cleanly|transfer closed|empty reply',
      'getaddrinfo|no such host|dns (?:error|lookup|resolution)|lookup address|nodename nor servname|name resolution|name or service not known|server misbehaving|unknownhost',
      'certificate|certification path|self[- ]signed|ssl[_: ](?:error|handshake|connect)|tls (?:handshake|connection)|x509|sslerror|sslhandshake|\\beproto\\b|ssl routines|wrong version number|parse error: expected http',
      '(?:request|read|connect|operation|response|i/o|socket|handshake|idle)[_ ]?(?:has )?time(?:d)?[ -]?out|timed out|deadline exceeded|apitimeouterror|headers timeout|body timeout|due to timeout',
      '^(?:\\W*(?:typeerror|api error|error)\\W+)?terminated\\W*$',
      'premature(?:ly)? close|incomplete ?read|peer closed|remote end closed|server ?disconnected|broken pipe|unexpected eof|eof occurred|: eof$|remoteprotocolerror',
      'dial tcp|proxy error|proxy connection|from proxy|tunnel(?:ing)? (?:socket|connection)|proxyconnect',
      'max retries exceeded|no route to host|net::err_|internet connection|\\b(?:is|are) offline\\b|waiting for network|reconnecting',
      // Its exit codes of the network, as its manual lists them; 22 is a status.
      '\\bcurl: \\((?:5|6|7|16|18|28|35|5[1-689]|60|77|83|9[0-2]|9[5-7])\\)',
    ),
  ],
  [
    'overloaded',
    any(
      'serviceunavailable|unavailable(?=\\W*$|[_"\'.,:;)\\]}]| (?:for|due|because|at|error))|high demand|server is busy|origin is unreachable|(?:at|over|exceeded|out of) capacity|no capacity|not ?ready|too busy|model is (?:currently )?(?:loading|busy)',
      'internal[_ ]?server ?error|an internal error|internalfailure|server (?:had an|encountered an) error|server_error|server error|returning an unknown error',
      'bad gateway|gateway time-?out|try again later|upstream (?:error|is)',
    ),
  ],
];

/** What the words of an error mean; the agent or its provider wrote them as such. */
export const troubleIn = (words: string): Trouble | undefined => table.find(([, pattern]) => pattern.test(words))?.[0];

// Lines of a program's output that tell of an error, apart from prose and reports of tests that only speak of one.

const lineCharsMax = 600;
const linesMax = 60;

/** Frames of a stack, braces, marks and versions: they belong to the error above. */
const noise =
  /^(?:at |[}\])]+[,;]?$|\^+$|Node\.js v\d|node:\w|throw |File "|\.{3}|note: run with|\d+: 0x|-{3,}|<---|More details here|curl failed to verify|establish a secure)/;
/** A time, a level and the name of the program. */
const prefix =
  /^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]+Z?\]?\s+)?(?:\[?(?:ERROR|ERR|FATAL|WARN)\]?[:\s]\s*)?(?:[\w.-]+:\s+(?=error|fatal))?(?:[✗✘]\s+(?=Sorry))?/;

/** Forms in which programs begin to tell of an error, and nobody else. */
const plainForms: readonly RegExp[] = [
  /^(?:[\w.$:]*(?:error|exception|exhausted|failure)\b(?: \[\w+\])?: ?[^ ]?|uncaught |\[cause\]|fatal\b|panic\b|err(?:or)?\s*:)/i,
  /^(?:curl: \(|api error|\[api error|an error occurred \(|[[{][[{\s]*["']|[✖❌⨯]\s|post "|get "|dial tcp|(?:details|debug_error_string) = "|ssh: |fatal: )/i,
  /^(?:[45]\d\d (?:- )?[A-Z{]|http[/ ]?\d|npm err(?:or|!) |error code:? [45]\d\d|sorry, you|ran into this error|rpc error: |exceeded retry|missing environment variable|unexpected status)/i,
  /^(?:\S+ )?(?:ERROR|FATAL)\b/,
  // `requests.exceptions.ReadTimeout: …`, `litellm.RateLimitError: …`
  /^(?:[a-z_]\w*\.)+[A-Z]\w*(?:: |$)|: [A-Z]\w*(?:Error|Exception): /,
  /(?:\/\S+|'): (?:permission denied|operation not permitted|read-only file system|no space left on device|memory allocation of \d+ bytes failed)\W*$|(?:: |heap )out of memory$|\bOs \{ code: \d/i,
];
/** Forms that stand in talk about errors as well. */
const doubtfulForms: readonly RegExp[] = [
  /^(?:[\w.$:]*(?:error|exception|exhausted|failure)\b\s*[({[]|err(?:or)?\s*[([]|caused by\b|request (?:to|failed)|failed to |error\b)/i,
  // `Credits exhausted: …`, `Ran into this error: …`, `Quota exceeded for …`
  /^(?:[\w'-]+ ){0,4}(?:error|failed|exceeded|exhausted|denied|refused|missing)(?: \w+){0,2}: /i,
  /^(?:quota|rate limit|usage limit|credits?|budget|connection|authentication|permission|access) (?:exceeded|exhausted|reached|refused|failed|denied)\b/i,
  /\b[A-Z]\w*(?:Error|Exception|Exhausted)\b\W{0,2}[:({[]/,
  /["']error["']\s?: ?[{"'].*[}\])"']\W*$|\{["'](?:type|message|code)["']\s?:.*[}\])"']\W*$/i,
  /\bhttp(?:\/[\d.]+)? [45]\d\d\b|\bstatus(?: code)?:? [45]\d\d\b|\b(?:error|fehler) (?:code:? )?[45]\d\d\b|\bcode = \w+ desc = |<title>/i,
  /: (?:permission denied|operation not permitted|connection refused|network is unreachable|connection reset by peer)(?: \(os error \d+\))?\.?$/i,
];
/** Of a test, a compiler or a mistake in a program, which may name any error. */
const isOfCode =
  /[✓✗×❯●]|\b(?:expected(?! http)|assert\w*|but received|error ts\d+)\b|\breceived: |(?<![/\w.-])(?:tests?|specs?|suite|story|fixture|mock)(?![/\w.-])|^(?:[\w.]*\.)?(?:Key|Index|Name|Attribute|Reference|Range|Syntax|Import|ModuleNotFound|ZeroDivision)Error\b/i;
/** A program of the work lacks its own server. */
const isOfTool = /^(?:docker|psql|pg_\w+|mysql\w*|redis\w*|mongo\w*|kubectl)\b/i;

const url = /https?:\/\/\S+/g;
/** What is quoted is spoken of, but for a command that is to be run. */
const quoted = /["“”'`]\w[^"“”'`]*["“”'`]/;
const advised = /\b(?:run|set|use) [`'"][^`'"]*[`'"]/gi;
/** Talk of tests, compilers and files, and of what a program shows: an agent's work may be about limits and logins too. */
const ofTheWork = any(
  '\\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|cc?|cpp|h|cs|swift|md|json|ya?ml|toml|sh|sql|html|css)\\b',
  '\\b(?:fail(?:s|ing)?|pass(?:es|ed)?|expect(?:s|ed)?|assert\\w*|error ts\\d+|tests?|spec|specs|suite|snapshot|lint|build|mock|fixture|bug)\\b',
  '\\b(?:story|stories|task|docs?|page|screen|banner|form|dialog|widget|mail|column|button|toast|locale\\w*|component|middleware|migration|parser)\\b',
  '\\b(?:translat\\w+|handl\\w+|implement\\w*|refactor\\w*|added|fixed|wrote|renamed?|replaced|covered|counted|mapped|merged|done|todo|remains?|missing part)\\b',
  '\\b(?:endpoint|redirect|cookie|schema|crashes)\\b|[✓✗×❯●]|^[-*+] |^us-\\d|^(?:next|and|but|so)\\b',
);
/** How sentences go on that describe something; words to the one who reads may go on so too. */
const describes =
  /\b(?:still|now|which|because|although|until|but|while|where|wants?|should|says|show[sn]?|keeps|answers|counts|jetzt|fehlt|noch|wird|aber|maintenant|mais|ahora|pero|falta)\b/i;
const toReader = /\b(?:you|your|you['’]ve|you['’]re|please|try again|try later)\b/i;
/** Whoever works tells about himself; a program does not. */
const aboutItself = /\b(?:I|we)\b/;
const plainWordsMax = 9;
const wordsToReaderMax = 40;

/** Somebody tells about work. */
const isTalk = (said: string): boolean =>
  aboutItself.test(said) || ofTheWork.test(said) || (describes.test(said) && !toReader.test(said));

/** A provider's own words are short, and about nothing but themselves or the one who reads them. */
function isBareStatement(said: string): boolean {
  const wordsMax = toReader.test(said) ? wordsToReaderMax : plainWordsMax;
  return said.split(/\s+/).length <= wordsMax && /[a-z]{3}/i.test(said) && !quoted.test(said);
}

/** How sure it is that the line is an error of the program itself. */
function formOf(raw: string): 'error' | 'statement' | undefined {
  if (aboutItself.test(raw) || isOfTool.test(raw)) return undefined;
  const line = raw.replace(prefix, '');
  const said = line.replace(url, '').replace(advised, '');
  if (isOfCode.test(said)) return undefined;
  if (plainForms.some(form => form.test(line) || form.test(raw))) return 'error';
  if (isTalk(said)) return undefined;
  if (doubtfulForms.some(form => form.test(line))) return 'error';
  return isBareStatement(said) ? 'statement' : undefined;
}

const isTestReport =
  /^(?:FAIL\b|\d+ (?:failed|failing)|Tests?:|not ok \d|--- FAIL|FAILED \S|test result: |=+ .*\b(?:failed|passed)\b|\S+ FAILED$|[✗×●] [a-z])/;
const thrown = /^(?:Uncaught )?[\w$.]*(?:Error|Exception)\b\s*:/;
const plainLinesMax = 4;
const talkWordsMin = 6;

/** The trouble that the end of a program's output tells, and its line. */
export function troubleAtEnd(output: string): { readonly trouble: Trouble; readonly line: string } | undefined {
  const lines = output
    .slice(-linesMax * lineCharsMax)
    .split('\n')
    .slice(-linesMax)
    .map(line => line.trim().slice(0, lineCharsMax))
    .filter(line => line !== '' && !noise.test(line));
  if (lines.some(line => isTestReport.test(line))) return undefined;
  for (const [at, line] of lines.reverse().entries()) {
    const form = formOf(line);
    const trouble = form === 'error' || (at < plainLinesMax && form === 'statement') ? troubleIn(line) : undefined;
    if (trouble !== undefined) return { trouble, line };
    // Whoever goes on to talk of the work was not ended by what is said above, nor by what another error is thrown below.
    const mayTalk = form === undefined && line[0] !== '<' && line.split(' ').length >= talkWordsMin;
    if (mayTalk && isTalk(line.replace(url, ''))) return undefined;
    if (at >= plainLinesMax && thrown.test(line)) return undefined;
  }
  return undefined;
}
