// Places where tools write secrets: headers, addresses, command lines, files and logs, whatever the value looks like.
import type { RedactRule } from './rule.ts';
import {
  flagPassword,
  hasBoth,
  literalPassword,
  looksRandom,
  mixed,
  randomRun,
  telling,
  userPassword,
} from './values.ts';

/** Programs that take a password or a token behind a short flag. */
const programs =
  'sshpass,mysql,mariadb,docker login,podman login,registry login,az login,redis-cli,mongosh,mongodump,mongorestore,mongoexport,' +
  'ldapsearch,ldapadd,ldapmodify,sqlcmd,cqlsh,mosquitto_pub,mosquitto_sub,ipmitool,snmpwalk,snmpget,snmpset,codecov,7z ,7za ,zip -';

export const places: readonly RedactRule[] = [
  {
    name: 'authorization',
    literals: ['authorization'],
    anyCase: true,
    inWord: true,
    pattern:
      /authorization\\{0,3}["']?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,3}["']?(?:bearer|basic|token|apikey|digest)(?:[ \t]{1,4}|%20)(?:token=["']?)?([^\s"'`,;\\$<>{}()[\]*]{6,2048})/iy,
    group: 1,
    accepts: literalPassword,
  },
  {
    // Any other scheme, and none.
    name: 'authorization',
    literals: ['authorization'],
    anyCase: true,
    inWord: true,
    pattern:
      /authorization\\{0,3}["']?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,3}["']?(?:[a-z][a-z-]{2,24}[ \t]{1,4})?(?:(?:token|key)=["']?)?([^\s"'`,;\\$<>{}()[\]*]{12,2048})(?![^\s"'`,;\\$<>{})\]*])/iy,
    group: 1,
    accepts: secret => hasBoth(secret) && telling(secret),
  },
  {
    name: 'bearer',
    literals: ['bearer ', 'bearer%20'],
    anyCase: true,
    pattern: /bearer(?: {1,4}|%20)([A-Za-z0-9._~+/-]{10,2048}={0,2})/iy,
    group: 1,
    accepts: secret => hasBoth(secret) && telling(secret),
  },
  {
    name: 'basic',
    literals: ['basic '],
    anyCase: true,
    pattern: /basic {1,4}([A-Za-z0-9+/]{12,512}={0,2})/iy,
    group: 1,
    accepts: mixed,
  },
  {
    // Also every database address: postgres, mysql, mongodb, redis, amqp.
    name: 'url-password',
    literals: ['://'],
    inWord: true,
    pattern: /:\/\/[^\s/?#@:"'`<>\\]{0,128}:([^\s/@"'`<>\\]{1,256})@/y,
    group: 1,
    accepts: literalPassword,
  },
  {
    name: 'url-password',
    literals: ['://'],
    inWord: true,
    pattern: /:\/\/([A-Za-z0-9_-]{20,256})(?::x-oauth-basic)?@(?![\w.-]{0,40}sentry)/y,
    group: 1,
    accepts: telling,
  },
  {
    // curl, wget, http, lftp, smbclient: `-u name:password`.
    name: 'user-password',
    literals: [' -u', '--user ', '--user=', '--proxy-user'],
    anyCase: true,
    inWord: true,
    pattern:
      /(?: -u|--(?:proxy-)?user)[ =]{0,2}["']?(?:[\w.@+/\\-]{1,80}[:%](?!:)([^\s"'`$<>{}]{3,256})|[\w.@+-]{1,40},([^\s"'`$<>{},=]{6,256})(?=\s|$))/iy,
    group: 1,
    accepts: userPassword,
  },
  {
    name: 'user-password',
    literals: ['stats auth '],
    pattern: /stats auth [\w.-]{1,80}:([^\s"'$]{4,128})/y,
    group: 1,
    accepts: literalPassword,
  },
  // The address is the secret when a part of its path is random.
  {
    name: 'webhook',
    literals: ['webhook', 'hook_url', 'hookurl'],
    anyCase: true,
    inWord: true,
    pattern: /(?:web)?hook(?:s|_?ur[il])?["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(https?:\/\/[^\s"'`<>{}$]{16,400})/iy,
    group: 1,
    accepts: secret => secret.split(/[/?=&]/).some(part => part.length >= 20 && looksRandom(part)),
  },
  // A table with a column of passwords, as browsers and managers export it: all its lines.
  {
    name: 'assignment',
    literals: [',password', ',login_password'],
    anyCase: true,
    inWord: true,
    pattern:
      /(?<=(?:^|\n)[\w,]{1,120}),(?:login_)?password(?:,[\w ]{1,30}){0,16}\r?(\n[^\n,]{0,400},[^\n]{1,400}(?:\n[^\n,]{0,400},[^\n]{1,400}){0,200})/iy,
    group: 1,
    accepts: hasBoth,
  },
  // The words of a wallet: 12, 15, 18, 21 or 24.
  {
    name: 'seed-phrase',
    literals: [
      'mnemonic',
      'seed phrase',
      'seed_phrase',
      'seedphrase',
      'recovery phrase',
      'recovery_phrase',
      'seed words',
    ],
    anyCase: true,
    inWord: true,
    pattern:
      /(?:mnemonic|(?:seed|recovery)[ _]?(?:phrase|words))\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![\w ])/iy,
    group: 1,
  },
  {
    name: 'flag-password',
    literals: programs.split(','),
    inWord: true,
    pattern:
      /[\w-]+(?: login)?[^\n|;]{0,120}? -[pawPAXt](?:[ =]?["']([^"'\n]{4,128})["']|[ =]?([^\s"'`$<>{}|;=-][^\s"'`$<>{}|;]{3,128}))/y,
    group: 1,
    accepts: flagPassword,
  },
  { name: 'flag-password', literals: ['-pass'], pattern: /-pass(?:in|out)?[ =]["']?pass:([^\s"']{4,128})/y, group: 1 },
  {
    name: 'flag-password',
    literals: ['htpasswd -'],
    pattern: /htpasswd -\w*b\w* \S{1,200} \S{1,80} ["']?([^\s"']{4,128})/y,
    group: 1,
    accepts: literalPassword,
  },
  {
    name: 'assignment',
    literals: ['IDENTIFIED BY'],
    anyCase: true,
    pattern: /identified by (?:password )?["']([^"'\n]{4,128})["']/iy,
    group: 1,
    accepts: literalPassword,
  },
  {
    name: 'assignment',
    literals: ['ConvertTo-SecureString'],
    anyCase: true,
    pattern: /convertto-securestring (?:-string )?["']([^"'$\n]{4,256})["']/iy,
    group: 1,
  },
  // sqlplus name/password@host, and the address of Oracle's driver.
  {
    name: 'url-password',
    literals: ['oracle:thin:', 'sqlplus ', 'expdp ', 'impdp '],
    inWord: true,
    pattern: /(?:oracle:thin:|[\w]+ )(?:-\w+ ){0,3}[\w.-]{1,60}\/([^\s/@"']{4,128})@/y,
    group: 1,
    accepts: literalPassword,
  },
  // Windows: net use, cmdkey, xfreerdp.
  {
    name: 'flag-password',
    literals: ['/pass:', '/p:', '/password:'],
    pattern: /\/p(?:ass|assword)?:([^\s"'=]{4,128})(?!=)/y,
    group: 1,
    accepts: flagPassword,
  },
  {
    name: 'flag-password',
    literals: ['net use '],
    pattern: /net use [^\n]{0,120}?\/user:\S{1,80} ([^\s/"']{4,128})/y,
    group: 1,
    accepts: literalPassword,
  },
  // Keys of a new cluster secret, whatever they are called.
  {
    name: 'assignment',
    literals: ['--from-literal='],
    pattern: /--from-literal=["']?[\w.-]{1,80}=([^\s"'`$<>{}]{6,1024})/y,
    group: 1,
    accepts: secret => hasBoth(secret) && literalPassword(secret),
  },
  // What pipelines are told to mask.
  {
    name: 'assignment',
    literals: ['::add-mask::', 'issecret=true]', 'isSecret=true]'],
    inWord: true,
    pattern: /(?:::add-mask::|is[sS]ecret=true\])([^\s$"']{4,1024})/y,
    group: 1,
  },
  // A token behind the verb of a command: `wandb login TOKEN`, `snyk auth TOKEN`, `gh secret set NAME --body TOKEN`.
  {
    name: 'flag-password',
    literals: [' login ', ' auth ', ' add-authtoken ', 'config set ', ' set-token '],
    inWord: true,
    pattern:
      /(?: (?:login|auth|add-authtoken|set-token) |config set [\w.-]{1,60}[ =])["']?([\w+/=-]{20,256})(?![\w./:@-])/y,
    group: 1,
    accepts: randomRun,
  },
  {
    name: 'flag-password',
    literals: ['secret set ', 'secrets set ', 'secret put '],
    inWord: true,
    pattern: /secrets? (?:set|put) [\w.-]{1,80} (?:--body|-b|--value)[ =]["']?([^\s"'`$<>{}]{6,1024})/y,
    group: 1,
    accepts: hasBoth,
  },
  {
    name: 'flag-password',
    literals: ['echo ', 'printf '],
    pattern:
      /(?:echo|printf) (?:-n )?["']?([^\s"'`$<>{}|]{12,512})["']? ?\| ?[^\n|]{0,80}?(?:login|-stdin|--with-token|secret|passwd|vault)/y,
    group: 1,
    accepts: hasBoth,
  },
  // Bundler: the account of a private source.
  {
    name: 'assignment',
    literals: ['BUNDLE_'],
    inWord: true,
    pattern: /BUNDLE_[A-Z0-9_]{1,80}__[A-Z]{2,8}[=:] ?["']?([^\s"'`$<>{}]{8,256})/y,
    group: 1,
    accepts: hasBoth,
  },
  // Redis: a user of the access list.
  {
    name: 'assignment',
    literals: [' on >'],
    inWord: true,
    pattern: / on >([^\s"'<>]{8,128})/y,
    group: 1,
    accepts: hasBoth,
  },
  // The file .pgpass: host:port:database:user:password.
  {
    name: 'assignment',
    literals: [':5432:', ':5433:', ':5434:', ':6432:', ':*:'],
    inWord: true,
    pattern: /:(?:543[234]|6432|\*):[^:\s]{1,64}:[^:\s]{1,64}:([^\s:"'`()]{4,128})(?=\s|$|\\)/y,
    group: 1,
    accepts: literalPassword,
  },
  // The seven of the first patterns that say nothing of length.
  {
    name: 'assignment',
    literals: ['ANTHROPIC_API_KEY=', 'AWS_SECRET_ACCESS_KEY='],
    inWord: true,
    pattern: /[A-Z_]+KEY=["']?([^\s"'`$<>{}()[\]*]{4,1024})/y,
    group: 1,
    accepts: secret => telling(secret) || (hasBoth(secret) && !/^(?:your|my|sk-ant-\.)/i.test(secret)),
  },
  {
    name: 'discord-token',
    literals: ['.login('],
    inWord: true,
    pattern: /\.login\(["'`]([\w.-]{50,100})["'`]/y,
    group: 1,
    accepts: telling,
  },
  {
    name: 'teams-webhook',
    literals: ['/IncomingWebhook/'],
    inWord: true,
    charsBeforeMax: 73,
    before: /[0-9a-f@-]/,
    pattern: /\/IncomingWebhook\/[0-9a-f]{32}(?:\/[\w-]{36,80}){0,2}/y,
  },
  {
    name: 'zapier-webhook',
    literals: ['hooks.zapier.com/hooks/catch/'],
    inWord: true,
    pattern: /hooks\.zapier\.com\/hooks\/catch\/([\w/]{12,60})/y,
    group: 1,
  },
  {
    name: 'url-signature',
    literals: ['?code=', '&code='],
    inWord: true,
    pattern: /[?&]code=([\w%+/-]{40,200}={0,2})/y,
    group: 1,
    accepts: telling,
  },
  {
    name: 'basic',
    literals: ['AUTH PLAIN ', 'AUTH LOGIN '],
    pattern: /AUTH (?:PLAIN|LOGIN) ([A-Za-z0-9+/]{8,512}={0,2})/y,
    group: 1,
    accepts: mixed,
  },
  {
    name: 'cookie',
    literals: ['cookie'],
    anyCase: true,
    inWord: true,
    pattern:
      /cookies?\\{0,3}["']?[ \t]{0,4}[:=,]?[ \t]{0,4}\\{0,3}["']?(?:[\w.-]{1,60}=[^\s;"'=]{0,15};[ ]?){0,12}[\w.-]{1,60}=([^\s"'`$<>{}]{16,512}(?:; [\w.-]{1,60}=[^\s;"'`$<>{}]{16,512}){0,12})/iy,
    group: 1,
    accepts: telling,
  },
];
