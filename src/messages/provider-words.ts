// Words of providers, networks and agent CLIs about a failure, in one table for all agents, and the lines that say them.

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

/** Ordered: the first row that holds names the trouble, so what is more exact stands first. */
const table: readonly (readonly [Trouble, RegExp])[] = [
  // A limit by the minute says "too large" and "quota" too.
  ['rate-limit', any('tokens per (?:min|day)', 'requests per (?:min|day)', 'per-minute', 'free-models-per-day')],
  [
    'context-too-long',
    any(
      'context[_ -]?(?:length|window|limit)[_ ]?(?:is )?(?:exceeded|overflow|full)',
      'contextoverflow',
      'maximum context',
      'exceeds? (?:the |its )?(?:maximum )?(?:context|number of tokens|token limit)',
      'exceeds? the maximum number of tokens',
      'exceed context limit',
      '(?:prompt|input|request|conversation|message) (?:is|was|were) too (?:long|large)',
      'too many (?:input |total )?tokens',
      'input (?:token count|length)',
      "room in the model's context",
      'reduce the length of',
      'longer than the (?:maximum|model)',
      'context size',
    ),
  ],
  [
    'billing',
    any(
      'insufficient[_ ](?:quota|balance|funds|credits?|account balance)',
      'credit balance',
      '(?:out of|no|not enough|more|add|purchase|exhausted|remaining) credits?\\b',
      'credits? (?:have |has )?(?:run out|exhausted|depleted|expired|required)',
      'payment[_ ]required',
      'check your plan and billing',
      'billing[_ ](?:error|hard|account|details|issue|not|to be|is|has|disabled|service)',
      'account is not active',
      'spend(?:ing)? (?:limit|cap)',
      'usage_not_included',
      'arrearage',
      'overdue',
      'topping up|top up',
      'quota[_ ]exceeded',
    ),
  ],
  [
    'rate-limit',
    any(
      'rate[_ -]?limit',
      'too[_ ]?many[_ ]?requests',
      '(?:usage|session|weekly|daily|hourly|hour|monthly|request|message|plan|account) limit(?:s)?(?:[_ ](?:has been |was |is |been )?(?:reached|exceeded|hit))?',
      '(?:hit|reached|exceeded) (?:your|the|its) (?:[\\w-]+ )?(?:limit|quota|allowance|allocation)',
      'limit (?:has been |was )?reached',
      'limit will reset',
      'resource[_ ]?(?:has been )?exhausted',
      'throttl',
      'quota',
      'premium request allowance',
      '\\b429\\b',
    ),
  ],
  ['auth', any('accessdenied|expiredtoken|unrecognizedclient|nocredentials')],
  [
    'model',
    any(
      'model[_ ]?not[_ ]?found',
      'modelnotfound',
      'no such model',
      '(?:invalid|unknown|unsupported|unrecognized) model',
      'not a valid model',
      'model identifier',
      'issue with the selected model',
      'deploymentnotfound|deployment for this resource does not exist',
      'no endpoints found',
      'try pulling it first',
      'on-demand throughput',
      'access to the model',
      'does not exist or you (?:do not|don.t) have access',
      '\\bmodels?\\b[^.]{0,80}? (?:does not exist|not found|is not (?:found|supported|available)|was not found|not supported|has been (?:deprecated|decommissioned|retired|discontinued)|is (?:deprecated|unavailable))',
      '^(?:api error: )?(?:404 )?(?:\\{.{0,80})?"?model: ',
      '"message":"model: ',
    ),
  ],
  [
    'auth',
    any(
      '(?:invalid|incorrect|missing|expired|wrong|bad|malformed|revoked|no)[_ ](?:or (?:missing|invalid|expired)[_ ])?(?:x-)?(?:api|access|subscription|auth(?:entication)?)[_ -]?(?:key|token|credentials?|header)',
      'api[_ ]key (?:is |was )?(?:not|missing|invalid|expired|required|revoked|disabled)',
      'api_key_invalid|invalid_api_key',
      'auth(?:entication|orization)?[_ ](?:has )?(?:failed|fails|error|required|is required|information|credentials)',
      'fail(?:ed|ure) to authenticate',
      'unauthenticated|unauthorized|unauthorised|forbidden',
      'invalid authentication',
      'not (?:logged|signed) in|logged out',
      '(?:please |/)log ?in\\b|sign in again|log in again|login again|run [`"]?\\w+ (?:auth )?login',
      '\\btoken (?:has |is |was )?(?:been )?(?:expired|revoked|invalid)|token (?:could not be )?refresh',
      'token_expired|expired ?token|session (?:has )?expired',
      'invalid_grant|invalid bearer',
      'auth method',
      'locate credentials|load (?:the )?(?:default |aws )?credentials|credentials? (?:were |was )?not found|no credentials|missing credentials|nocredentials|defaultcredentials',
      'security token',
      'unrecognizedclient|accessdenied|permission_error|permission_denied|signaturedoesnotmatch',
      'does not have access to claude',
      'organization has been disabled',
      '\\b401\\b',
    ),
  ],
  [
    'resource-limit',
    any(
      'out of memory',
      'enomem',
      'heap limit',
      'cannot allocate memory',
      '\\bmemoryerror\\b',
      'bad_alloc',
      '\\boom[- ]kill',
    ),
  ],
  ['spawn', any('\\bspawn \\S+ (?:enoent|eacces)')],
  ['permission', any('\\beacces\\b', '\\beperm\\b', 'permissionerror', 'errno 13\\b', 'os error 13\\b')],
  [
    'connection',
    any(
      'econn(?:refused|reset|aborted)|etimedout|enotfound|eai_again|ehostunreach|enetunreach|enetdown|\\bepipe\\b|und_err',
      'fetch failed|failed to fetch',
      'network[_ ](?:error|is (?:unreachable|down)|request failed|connection|unreachable)|networkerror',
      'connect(?:ion)?[_ ]?(?:error|refused|reset|failed|closed|aborted|timed ?out|timeout|lost|was (?:closed|reset|refused))',
      '(?:unable|failed|could not|couldn.t|cannot|can.t) (?:to )?(?:connect|reach|resolve|establish)',
      'error sending request|transport error|error decoding response body',
      'stream (?:disconnected|closed|error|ended)|socket (?:hang up|connection|closed)|sse stream',
      'getaddrinfo|no such host|dns (?:error|lookup|resolution)|lookup address|nodename nor servname|name resolution|name or service not known|server misbehaving|cannot resolve',
      'certificate|self[- ]signed|ssl[_: ](?:error|handshake|connect)|tls handshake|x509|sslerror',
      '(?:request|read|connect|operation|response|i/o|socket|handshake|idle)[_ ]?(?:has )?time(?:d)?[ -]?out|timed out|deadline exceeded|apitimeouterror|headers timeout|body timeout',
      '^(?:\\W*(?:typeerror|api error|error)\\W+)?terminated\\W*$',
      'premature(?:ly)? close|incomplete ?read|peer closed|remote end closed|server disconnected|broken pipe|unexpected eof|eof occurred|remoteprotocolerror',
      'dial tcp|proxy (?:error|connection|authentication)|from proxy|tunnel(?:ing)? (?:socket|connection)|proxyconnect',
      'max retries exceeded|no route to host|net::err_|internet connection|\\boffline\\b|waiting for network|reconnecting',
    ),
  ],
  [
    'overloaded',
    any(
      'overloaded',
      'unavailable',
      'high demand',
      '(?:at|over|exceeded|out of) capacity',
      'internal[_ ]?server ?error',
      'an internal error',
      'server (?:had an|encountered an) error|server_error|server error',
      'bad gateway|gateway time-?out',
      'model is (?:currently )?(?:loading|busy)',
      'try again later',
      'upstream (?:error|is)',
      '\\b(?:500|502|503|504|529)\\b',
    ),
  ],
];

/** What the words of an error mean; the agent or its provider wrote them as such. */
export const troubleIn = (words: string): Trouble | undefined => table.find(([, pattern]) => pattern.test(words))?.[0];

const lineCharsMax = 600;
const linesMax = 60;

/** Frames of a stack, braces, marks and versions: they belong to the error above. */
const noise =
  /^(?:at |[}\])]+[,;]?$|\^+$|Node\.js v\d|node:|throw |File "|\.{3}|note: run with|\d+: 0x|-{3,}|<---|More details here|curl failed to verify|establish a secure)/;
const prefix =
  /^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]+Z?\]?\s+)?(?:\[?(?:ERROR|ERR|FATAL|WARN)\]?[:\s]\s*)?(?:[\w.-]+:\s+(?=error|fatal))?/;
/** How programs begin a line that tells of an error. */
const errorStart =
  /^(?:[\w.$:]*(?:error|exception|exhausted|failure)\b\s*[:({[]|uncaught |caused by\b|\[cause\]|fatal\b|panic\b|err(?:or)?\s*[:([]|curl: \(|api error|\[api error|an error occurred \(|\{\s*"|[✖❌⨯]\s|http[/ ]?\d|\d{3} [A-Z]|post "|get "|dial tcp|request (?:to|failed)|failed to |unexpected status|exceeded retry)/i;
/** `requests.exceptions.ReadTimeout: …` */
const pythonError = /^(?:[a-z_]\w*\.)+[A-Z]\w*: /;
/** Talk of tests, compilers and files, and of what somebody did: an agent's work may be about limits and logins too. */
const ofTheWork =
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|cc?|cpp|h|cs|swift|md|json|ya?ml|toml|sh|sql|html|css)\b|\b(?:fail(?:s|ing)?|pass(?:es|ed)?|expect(?:s|ed)?|assert\w*|error ts\d+|tests?|spec|specs|suite|snapshot|story|stories|task|lint|build|mock|fixture|docs?|page|screen|banner|form|dialog|locale\w*|translat\w+|component|handl\w+|implement\w*|refactor\w*|added|fixed|wrote|renamed?|covered|mapped|merged|done|todo|next|remains?|missing part|still|now|which|because|wants?|should)\b|[✓✗×❯●]|^[-*+] |^us-\d/i;
/** Whoever works tells about himself; a program does not. */
const aboutItself = /\b(?:I|we)\b/;
const plainWordsMax = 18;

/** A provider's own words are short, and about nothing but themselves. */
const isBareStatement = (line: string): boolean =>
  line.split(/\s+/).length <= plainWordsMax && !ofTheWork.test(line) && !/["“”'`]\w[^"“”'`]*["“”'`]/.test(line);

/** A line that tells of an error by its form; prose that only speaks of one has another. */
function isErrorLine(raw: string): boolean {
  if (aboutItself.test(raw)) return false;
  const line = raw.replace(prefix, '');
  const isMarked = errorStart.test(line) || pythonError.test(line) || /^(?:\S+ )?(?:ERROR|FATAL)\b/.test(raw);
  return isMarked ? !/[✓✗×❯●]|\b(?:expected|assert\w*)\b/i.test(line) : isBareStatement(line);
}

const lastLinesMax = 4;

/** The trouble that the end of a program's output tells, and its line. */
export function troubleAtEnd(output: string): { readonly trouble: Trouble; readonly line: string } | undefined {
  const lines = output
    .slice(-linesMax * lineCharsMax)
    .split('\n')
    .slice(-linesMax)
    .map(line => line.trim().slice(0, lineCharsMax))
    .filter(line => line !== '' && !noise.test(line));
  if (lines.some(line => /^(?:FAIL\b|\d+ (?:failed|failing)|Tests?:)/.test(line))) return undefined;
  for (const line of lines.slice(-lastLinesMax).reverse()) {
    const trouble = isErrorLine(line) ? troubleIn(line) : undefined;
    if (trouble !== undefined) return { trouble, line };
  }
  // An error that was thrown stands above its properties.
  const thrown = lines.findLast(
    line => /^(?:[\w.$]*(?:Error|Exception)\b\s*:|\[cause\]: )/.test(line) && isErrorLine(line),
  );
  const trouble = thrown === undefined ? undefined : troubleIn(thrown);
  return trouble === undefined ? undefined : { trouble, line: thrown! };
}
