// Captures what people see, as docs/screens.md: one fixed scenario with the scripted agent in a terminal of 80x24 (tmux).
// `npm run screens`. Only what differs from run to run is replaced: times, durations, ids, and the name of the machine.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const place = mkdtempSync(join(tmpdir(), 'ralph-screens-'));
const project = join(place, 'greeter');
const deadlineMs = 30_000;
const columns = 80;

const env = {
  PATH: `${join(place, 'bin')}:${process.env['PATH']}`,
  HOME: join(place, 'user'),
  RALPH_HOME: join(place, 'home'),
  TMUX_TMPDIR: place,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  RALPH_SCRIPT: '../agent.json',
  RALPH_SANDBOX: 'none',
  ENV: join(place, 'shrc'),
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

// The scenario: three stories. The first is claimed too early and refused by the check; the last asks a person.

const story = (id: string, title: string, criterion: string) => ({
  id,
  title,
  description: `${title}.`,
  criteria: [criterion],
  passes: false,
});

const document = {
  project: 'greeter',
  description: 'A program that greets people',
  userStories: [
    story('US-001', 'Greet the world', 'sh greet.sh prints "Hello, world"'),
    story('US-002', 'Greet by name', 'sh greet.sh Ada prints "Hello, Ada"'),
    story('US-003', 'Say goodbye', 'sh greet.sh bye prints "Goodbye"'),
  ],
};

const usage = { usage: { inputTokens: 12_000, outputTokens: 900, costUsdMicros: 41_000 } };
const write = (name: string, text: string) => ({ write: name, text: `${text}\n` });
const says = (say: string) => ({ say });
const claim = { claim: true };
/** Long enough to be looked at. */
const atWorkMs = 4000;
const escalate = {
  type: 'deviation',
  summary: 'Goodbye as a word, or as a script of its own?',
  context: 'The story wants the word bye. US-002 already takes the first word as a name, so bye would be greeted.',
  options: ['Take bye out before the name is read', 'Write goodbye.sh instead'],
  question: 'Which one do you want?',
};
const script = {
  turns: [
    { task: 'US-001', attempt: 1, steps: [says('I wrote greet.sh.'), write('greet.sh', 'echo "Hello"'), usage, claim] },
    { task: 'US-001', steps: [says('The world was missing.'), write('greet.sh', 'echo "Hello, world"'), usage, claim] },
    {
      task: 'US-002',
      steps: [usage, { wait: atWorkMs }, write('greet.sh', `echo "Hello, \${1:-world}"`), usage, claim],
    },
    { task: 'US-003', attempt: 1, steps: [says('Two ways are possible.'), usage, { escalate }] },
    {
      steps: [write('greet.sh', `[ "$1" = bye ] && echo Goodbye && exit\necho "Hello, \${1:-world}"`), usage, claim],
    },
  ],
};

const check = `out=$(sh greet.sh 2>&1)
test "$out" = "Hello, world" && exit 0
echo "expected: Hello, world"
echo "found:    $out"
exit 1
`;

function prepare(): void {
  for (const folder of [project, join(place, 'user'), join(place, 'bin')]) mkdirSync(folder, { recursive: true });
  const ralph = join(place, 'bin', 'ralph');
  writeFileSync(ralph, `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'bin', 'ralph')}' "$@"\n`);
  chmodSync(ralph, 0o755);
  writeFileSync(join(project, 'PRD.json'), `${JSON.stringify(document, null, 2)}\n`);
  writeFileSync(join(project, 'check.sh'), check);
  writeFileSync(join(place, 'shrc'), "PS1='$ '\n");
  writeFileSync(join(place, 'agent.json'), JSON.stringify(script));
  for (const words of ['init -q -b main', 'add .', 'commit -q -m Start'])
    execFileSync('git', words.split(' '), { cwd: project, env });
}

const tmux = (...words: readonly string[]): string =>
  execFileSync('tmux', ['-L', 'screens', '-f', '/dev/null', ...words], { cwd: project, env, encoding: 'utf8' });

const openWindow = (name: string): void => {
  const shell = 'exec sh -i';
  const size = ['-x', String(columns), '-y', '24'];
  tmux(...(name === 'run' ? ['new-session', '-d', '-s', 'all', ...size] : ['new-window', '-d']), '-n', name, shell);
};

const screen = (name: string): string => tmux('capture-pane', '-p', '-S', '-300', '-t', `all:${name}`).trimEnd();

const looksAlike = 6;

/** The screen once it holds this and stands still. */
async function shows(name: string, wanted: RegExp): Promise<string> {
  let [last, times] = ['', 0];
  for (const until = Date.now() + deadlineMs; Date.now() < until; ) {
    const text = screen(name);
    times = text === last ? times + 1 : 0;
    last = text;
    if (times >= looksAlike && wanted.test(text)) return text;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error(`the window ${name} never showed ${wanted}:\n${last}`);
}

const type = (name: string, ...keys: readonly string[]): void => void tmux('send-keys', '-t', `all:${name}`, ...keys);

/** A command of its own window, from its line to the prompt after it. */
async function captured(words: string): Promise<string> {
  const name = words.replaceAll(/[^a-z]/g, '-');
  openWindow(name);
  await shows(name, /\$/);
  type(name, words, 'Enter');
  const text = await shows(name, /^\$ .+\n[\s\S]*\n\$$/);
  return text.replace(/\n\$$/, '');
}

/** Lines of the same moment may fall into two seconds: every time gets one of its own. */
function settled(text: string): string {
  let second = 9 * 3600;
  const clock = (): string => {
    second += 3;
    return new Date(second * 1000).toISOString().slice(11, 19);
  };
  return text
    .replaceAll(place, '/tmp')
    .replaceAll(/\d{4}-\d\d-\d\d(?=[T ]\d\d:\d\d)/g, '2026-11-18')
    .replaceAll(/(?<!\d)\d\d:\d\d:\d\d(\.\d{3})?/g, (_time, thousandths) => clock() + (thousandths ? '.000' : ''))
    .replaceAll(/(?<![\d:])\d\d:\d\d(?![\d:])/g, '09:00')
    .replaceAll(/\b\d+(?:\.\d)?(?=m?s\b)/g, digits => '0.4'.slice(0, digits.length))
    .replaceAll(/\bprocess \d+ on \S+/g, 'process 4711 on laptop')
    .replaceAll(new RegExp(`\\b(by|from) ${userInfo().username}\\b`, 'g'), '$1 ada')
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, '01a2b3c4-0000-7000-8000-000000000000')
    .replaceAll(/\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,64}\b/g, id => '1a2b3c4d'.repeat(8).slice(0, id.length))
    .split('\n')
    .map(line => line.trimEnd())
    .join('\n')
    .trim();
}

/** What a screen shows below the lines that an earlier look at it has shown. */
function since(earlier: string, text: string): string {
  const [before, now] = [earlier.split('\n'), text.split('\n')];
  const at = now.findIndex((line, row) => line !== before[row]);
  return now
    .slice(at < 0 ? 0 : at)
    .join('\n')
    .replace(/\n\$$/, '');
}

async function capture(): Promise<readonly (readonly [title: string, says: string, text: string])[]> {
  openWindow('run');
  await shows('run', /\$/);
  type('run', "ralph run --verify 'sh check.sh' --allow-red-start", 'Enter');
  const card = await shows('run', /Press Enter to start/);
  type('run', '', 'Enter');
  const work = await shows('run', /Iteration 3: .*\n.*iteration 3.50/);
  const question = await shows('run', /Which one do you want\?/);
  const [status, inbox] = [await captured('ralph status'), await captured('ralph inbox')];
  type('run', '1', 'Enter');
  const ending = await shows('run', /ralph report[\s\S]*\n\$$/);
  return [
    ['The card', 'What `ralph run` shows before anything is started. Enter starts, Ctrl-C leaves.', card],
    ['A run', 'A line for each thing that happens; the last one shows how far it is, and moves.', since(card, work)],
    ['A question', 'The agent asks instead of guessing.', since(work, question)],
    ['The status', 'From another terminal, while the question waits.', status],
    ['The inbox', 'All open questions, and how to answer them from anywhere.', inbox],
    ['The ending', 'A number was the answer: the rest of the run, and what to type next.', since(question, ending)],
    ['The report', 'The account of the loop.', await captured('ralph report')],
    ['The explanation', 'Every step with its reason.', await captured('ralph explain')],
  ];
}

function page(screens: Awaited<ReturnType<typeof capture>>): string {
  const sections = screens.map(
    ([title, says, text]) => `## ${title}\n\n${says}\n\n\`\`\`text\n${settled(text)}\n\`\`\``,
  );
  return `${[
    '<!-- Made by scripts/screens.ts. Do not edit: run `npm run screens`. -->',
    '# What you see',
    [
      'A terminal of 80 columns, without its colors. The agent is scripted: it plays a fixed part, and no model is called.',
      'Times, durations and ids are made equal, so that this page changes only when the program does.',
    ].join('\n'),
    ...sections,
  ].join('\n\n')}\n`;
}

try {
  prepare();
  writeFileSync(join(root, 'docs', 'screens.md'), page(await capture()));
} finally {
  try {
    tmux('kill-server');
  } catch {
    // It was never started.
  }
  rmSync(place, { recursive: true, force: true });
}
