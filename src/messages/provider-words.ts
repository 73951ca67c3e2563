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
      'memory allocation of \\d+ bytes',
      '\\benospc\\b|no space left on device|disk quota exceeded|\\bemfile\\b|\\benfile\\b|too many open files',
    ),
  ],
  // Of a window that opens again: "too large" and "quota" of so many per minute are no matter of context or money.
  [
    'rate-limit',
    any(
      '(?:tokens|requests) per (?:min|day|hour)|per[-_ ]minute|perday|free-models-per|quota metric',
      'throttling|too many tokens,? please wait',
      '(?:hit|reached|exceeded) your (?:specified )?(?:api )?usage limits?|usage limit (?:has been |was )?reached',
    ),
  ],
  [
    'context-too-long',
    any(
      'context[_ -]?(?:length|window|limit)[_ ]?(?:is )?(?:exceeded|overflow|full)|contextoverflow|configured context',
      'maximum context|context size|exceed context limit|maximum model length|model token limit',
      'exceeds? (?:the |its )?(?:maximum )?(?:context|number of tokens|token limit)|exceeds? the maximum number of tokens',
      '(?:prompt|input|request|conversation|message) (?:is|was|were) too (?:long|large)|request_too_large|payload too large',
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
      'check your plan and billing|account is not active|in good standing|membership',
      'billing[_ ](?:error|hard|account|details|issue|not|to be|is|has|disabled|service)',
      'spend(?:ing)? (?:limit|cap)|usage_not_included|to use \\w+ with your [\\w ]{1,30}plan',
      'free (?:\\w+ )?quota (?:has been |was |is )?(?:exceeded|exhausted|used)',
      status('402'),
    ),
  ],
  [
    'rate-limit',
    any(
      'rate[_ -]?limit|too[_ ]?many[_ ]?requests|quota|limit will reset|premium request allowance',
      '(?:usage|session|weekly|daily|hourly|hour|monthly|request|message|plan|account) limits?(?:[_ ](?:has been |was |is |been )?(?:reached|exceeded|hit))?',
      '(?:hit|reached|exceeded) (?:your|the|its) (?:[\\w-]+ )?(?:limit|quota|allowance|allocation)|limit (?:has been |was )?reached',
      'used (?:up )?(?:all|every) [\\w ]{0,20}(?:messages|requests|tokens|calls)|resource[_ ]?(?:has been )?exhausted',
      status('429'),
    ),
  ],
  [
    'model',
    any(
      'model[_ ]?(?:was |is )?not[_ ]?(?:found|exist)|no such model|try pulling it first|no endpoints found',
      '(?:invalid|unknown|unsupported|unrecognized) model|not a valid model|model identifier',
      'issue with the selected model|on-demand throughput|access to (?:the|this) (?:specified |requested )?model',
      'deploymentnotfound|deployment for this resource does not exist|does not exist or you (?:do not|don.t) have access',
      '\\bmodels?\\b(?:[^.]|\\.(?=\\S)){0,80}? (?:does not exist|not found|is not (?:found|supported|available)|was not found|not supported|has been (?:deprecated|decommissioned|retired|discontinued)|is (?:deprecated|unavailable))',
      '^(?:api error: )?(?:404 )?(?:\\{.{0,80})?"?model: |["\']message["\']: ?["\']model: ',
    ),
  ],
  ['connection', any('proxy authentication', status('407|408'))],
  [
    'auth',
    any(
      '(?:invalid|incorrect|missing|expired|wrong|bad|malformed|revoked|no)[_ ](?:or (?:missing|invalid|expired)[_ ])?(?:x-)?(?:api|access|subscription|auth(?:entication)?)[_ -]?(?:key|token|credentials?|header)',
      'api[_ ]key (?:is |was )?(?:not|missing|invalid|expired|required|revoked|disabled)|api_key_invalid|api_key client option',
      'variable[^.]{0,20}(?:api_?key|token)|set the \\w*api_key',
      'auth(?:entication|orization)?[_ ](?:has )?(?:failed|fails|error|required|is required|information|credentials|method)',
      '(?:ensure|verify) your (?:api keys?|credentials)|fail(?:ed|ure) to authenticate|invalid[_ ](?:authentication|grant|bearer|client)',
      '\\b(?:unauthenticated|unauthorized|unauthorised|forbidden)\\b|accessdenied|permission_error|permission_denied|permissiondenied|does not have permission',
      'not (?:logged|signed) in|logged out|(?:please |/)log ?in\\b|(?:sign|log) in again|login again|run [`"]?\\w+ (?:auth )?login|auth method',
      '\\btoken (?:has |is |was )?(?:been )?(?:expired|revoked|invalid)|token (?:could not be )?refresh|token_expired|expired ?token|session (?:has )?expired|could not be refreshed',
      'locate credentials|load (?:the )?(?:default |aws )?credentials|credentials? (?:were |was )?not found|(?:no|missing) ?credentials|defaultcredentials',
      'security token|sso token|from sso|unrecognizedclient|invalidclienttoken|incompletesignature|signaturedoesnotmatch',
      'access to claude|access (?:was |has been )?(?:terminated|revoked)|access is disabled|organization has been disabled|territory not supported',
      status('401|403'),
    ),
  ],
  ['spawn', any('\\bspawn \\S+ (?:enoent|eacces)')],
  [
    'permission',
    any(
      '\\beacces\\b|\\beperm\\b|\\berofs\\b|permissionerror|errno (?:13|30)\\b|os error 13\\b|read-only file system',
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
      'certificate|certification path|self[- ]signed|ssl[_: ](?:error|handshake|connect)|tls (?:handshake|connection)|x509|sslerror|sslhandshake',
      '(?:request|read|connect|operation|response|i/o|socket|handshake|idle)[_ ]?(?:has )?time(?:d)?[ -]?out|timed out|deadline exceeded|apitimeouterror|headers timeout|body timeout',
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
      'unavailable|high demand|(?:at|over|exceeded|out of) capacity|no capacity|not ?ready|too busy|model is (?:currently )?(?:loading|busy)',
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
  /^(?:at |[}\])]+[,;]?$|\^+$|Node\.js v\d|node:|throw |File "|\.{3}|note: run with|\d+: 0x|-{3,}|<---|More details here|curl failed to verify|establish a secure)/;
/** A time, a level and the name of the program. */
const prefix =
  /^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]+Z?\]?\s+)?(?:\[?(?:ERROR|ERR|FATAL|WARN)\]?[:\s]\s*)?(?:[\w.-]+:\s+(?=error|fatal))?(?:[✗✘]\s+(?=Sorry))?/;

/** Forms in which programs tell of an error; whoever describes his work has others. */
const forms: readonly RegExp[] = [
  // How a line begins.
  /^(?:[\w.$:]*(?:error|exception|exhausted|failure)\b\s*[:({[]|uncaught |caused by\b|\[cause\]|fatal\b|panic\b|err(?:or)?\s*[:([])/i,
  /^(?:curl: \(|api error|\[api error|an error occurred \(|[[{\s]*"|[✖❌⨯]\s|post "|get "|dial tcp|(?:details|debug_error_string) = ")/i,
  /^(?:sorry, you|request (?:to|failed)|failed to |unexpected status|exceeded retry|missing environment variable)/i,
  /^(?:\W{0,2}[45]\d\d [A-Z{]|http[/ ]?\d|error code\b)/i,
  // `Credits exhausted: …`, `Ran into this error: …`, `Quota exceeded for …`
  /^(?:[\w'-]+ ){0,4}(?:errors?|failed|exceeded|exhausted|denied|refused|missing)(?: \w+){0,2}: /i,
  /^(?:quota|rate limit|usage limit|credits?|budget|connection|authentication|permission) (?:exceeded|exhausted|reached|refused|failed|denied)\b/i,
  /^(?:\S+ )?(?:ERROR|FATAL)\b/,
  // The name of a class, wherever it stands: `requests.exceptions.ReadTimeout: …`, `litellm.RateLimitError: …`
  /^(?:[a-z_]\w*\.)+[A-Z]\w*(?:: |$)/,
  /\b[A-Z]\w*(?:Error|Exception|Exhausted)\b\W{0,2}[:({[]/,
  // A body, a status of HTTP or of gRPC, what an operating system says.
  /["']error["']\s?: ?[{"']|\{["'](?:type|message|code)["']\s?:/i,
  /\bhttp(?:\/[\d.]+)? [45]\d\d\b|\bstatus(?: code)?:? [45]\d\d\b|\berror (?:code:? )?[45]\d\d\b|\bcode = \w+ desc = |<title>/i,
  /: (?:permission denied|operation not permitted|read-only file system|connection refused|no space left on device|network is unreachable|connection reset by peer|memory allocation of \d+ bytes failed)(?: \(os error \d+\))?\.?$/i,
];
/** Of a test or a compiler, which may name any error. */
const isOfTests = /[✓✗×❯●]|\b(?:expected|assert\w*|received|error ts\d+)\b/i;

const url = /https?:\/\/\S+/g;
/** Talk of tests, compilers and files, and of what a program shows: an agent's work may be about limits and logins too. */
const ofTheWork = any(
  '\\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|cc?|cpp|h|cs|swift|md|json|ya?ml|toml|sh|sql|html|css)\\b',
  '\\b(?:fail(?:s|ing)?|pass(?:es|ed)?|expect(?:s|ed)?|assert\\w*|error ts\\d+|tests?|spec|specs|suite|snapshot|lint|build|mock|fixture)\\b',
  '\\b(?:story|stories|task|docs?|page|screen|banner|form|dialog|mail|column|button|toast|locale\\w*|component)\\b',
  '\\b(?:translat\\w+|handl\\w+|implement\\w*|refactor\\w*|added|fixed|wrote|renamed?|replaced|covered|mapped|merged|done|todo|remains?|missing part)\\b',
  '[✓✗×❯●]|^[-*+] |^us-\\d|^next\\b',
);
/** How sentences go on that describe something; words to the one who reads may go on so too. */
const describes =
  /\b(?:still|now|which|because|although|until|but|while|wants?|should|says|shows|keeps|answers|counts)\b/i;
const toReader = /\b(?:you|your|you've|please)\b/i;
/** Whoever works tells about himself; a program does not. */
const aboutItself = /\b(?:I|we)\b/;
const plainWordsMax = 18;
const wordsToReaderMax = 40;

/** A provider's own words are short, and about nothing but themselves or the one who reads them. */
function isBareStatement(line: string): boolean {
  const said = line.replace(url, '');
  const isToReader = toReader.test(said);
  const words = said.split(/\s+/).length;
  if (words > (isToReader ? wordsToReaderMax : plainWordsMax) || ofTheWork.test(said)) return false;
  return (isToReader || !describes.test(said)) && /[a-z]{3}/i.test(said) && !/["“”'`]\w[^"“”'`]*["“”'`]/.test(said);
}

/** A line that has the form of an error. */
const isMarked = (raw: string): boolean => {
  const line = raw.replace(prefix, '');
  return forms.some(form => form.test(line) || form.test(raw)) && !isOfTests.test(line.replace(url, ''));
};

const isTestReport =
  /^(?:FAIL\b|\d+ (?:failed|failing)|Tests?:|not ok \d|--- FAIL|FAILED \S|test result: |=+ .*\b(?:failed|passed)\b|\S+ FAILED$)/;
const thrown = /^(?:Uncaught )?[\w$.]*(?:Error|Exception)\b\s*:/;
const plainLinesMax = 4;

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
    if (aboutItself.test(line)) continue;
    const isTold = isMarked(line);
    const trouble = isTold || (at < plainLinesMax && isBareStatement(line)) ? troubleIn(line) : undefined;
    if (trouble !== undefined) return { trouble, line };
    // What is thrown below all others ended the program.
    if (at >= plainLinesMax && thrown.test(line)) return undefined;
  }
  return undefined;
}
