// The demo's scratch project: four small stories, a test runner, and the script its agent plays.

const story = (id: string, title: string, criterion: string, dependsOn: readonly string[] = []) => ({
  id,
  title,
  description: `${title}.`,
  criteria: [criterion],
  passes: false,
  depends_on: dependsOn.length === 0 ? undefined : dependsOn,
});

const prd = {
  project: 'greeter',
  description: 'A shell program that greets people',
  userStories: [
    story('US-001', 'Greet the world', 'sh greet.sh prints "Hello, world"'),
    story('US-002', 'Greet by name', 'sh greet.sh Ada prints "Hello, Ada"', ['US-001']),
    story('US-003', 'Shout on request', 'sh greet.sh --shout Ada prints "HELLO, ADA"', ['US-002']),
    story('US-004', 'Write a README', 'README.md shows how to call it', ['US-003']),
  ],
};

const runTests = `# Runs every test; the first failure fails the run.
for test in tests/*.sh; do
  sh "$test" || { echo "FAILED: $test"; exit 1; }
done
echo "all tests passed"
`;

const test = (call: string, wanted: string): string =>
  `got=$(sh greet.sh ${call})\n[ "$got" = "${wanted}" ] || { echo "wanted: ${wanted}"; echo "got:    $got"; exit 1; }\n`;
const plainGreeting = 'echo "Hello, world"\n';
const namedGreeting = `echo "Hello, \${1:-world}"\n`;
const shoutingGreeting = `if [ "$1" = "--shout" ]; then
  shift
  echo "Hello, \${1:-world}" | tr '[:lower:]' '[:upper:]'
else
  echo "Hello, \${1:-world}"
fi
`;

const usage = (inputTokens: number, outputTokens: number, costUsdMicros: number) => ({
  usage: { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, costUsdMicros, estimated: false },
});

const question = {
  type: 'deviation',
  summary: 'The story does not say whether the name is shouted too',
  context: 'US-003 wants "HELLO, ADA" for Ada, but names such as McKay lose their spelling in capitals.',
  options: ['Shout the whole line, name included', 'Shout the greeting only'],
  question: 'Which one is meant?',
};

const write = (path: string, text: string) => ({ write: path, text });

const failing = (attempt: number, text: string, costUsdMicros: number, detail: string) => ({
  task: 'US-003',
  attempt,
  steps: [write('greet.sh', text), usage(8_800, 410, costUsdMicros), { fail: 'process', detail }],
});

/** US-003 goes wrong twice, the second time on top of the first; only a rollback gets rid of it. */
const failingTurns = [
  failing(2, 'if [ "$1" = "--shout" ]; then\n  shift\n', 31_000, 'it crashed in the middle of a file'),
  failing(3, 'case "$1" in --shout) shift\n', 34_000, 'it crashed again, on top of the half-written file'),
];

/** What the agent does at each attempt. US-002's first one is the lie: no work, and a check that passes anything. */
const turns = [
  {
    task: 'US-001',
    steps: [
      write('greet.sh', plainGreeting),
      write('tests/us-001.sh', test('', 'Hello, world')),
      usage(8_400, 620, 41_000),
      { say: 'greet.sh greets the world; its test is in tests/.' },
      { claim: true },
    ],
  },
  {
    task: 'US-002',
    attempt: 1,
    steps: [
      write('tests/us-002.sh', test('Ada', 'Hello, Ada')),
      write('run-tests.sh', 'exit 0\n'),
      usage(7_900, 240, 33_000),
      { say: 'Greeting by name works.' },
      { claim: true },
    ],
  },
  {
    task: 'US-002',
    steps: [
      write('greet.sh', namedGreeting),
      usage(9_100, 380, 38_000),
      { say: 'The name is used now; the tests pass.' },
      { claim: true },
    ],
  },
  { task: 'US-003', attempt: 1, steps: [usage(6_200, 310, 29_000), { escalate: question }] },
  {
    task: 'US-003',
    steps: [
      write('greet.sh', shoutingGreeting),
      write('tests/us-003.sh', test('--shout Ada', 'HELLO, ADA')),
      usage(9_700, 450, 43_000),
      { say: 'Shouts the whole line, as you said.' },
      { claim: true },
    ],
  },
  {
    task: 'US-004',
    steps: [
      write('README.md', '# greeter\n\n    sh greet.sh [--shout] [NAME]\n'),
      usage(5_300, 190, 21_000),
      { say: 'README written.' },
      { claim: true },
      { promise: 'DONE' },
    ],
  },
];

/** The pause before each turn makes the demo readable. */
function script(pauseMs: number, canRollBack: boolean) {
  const think = pauseMs > 0 ? [{ wait: pauseMs }] : [];
  const all = canRollBack ? [...failingTurns, ...turns] : turns;
  return { turns: all.map(turn => ({ ...turn, steps: [...think, ...turn.steps] })) };
}

export const projectFiles: Readonly<Record<string, string>> = {
  'PRD.json': `${JSON.stringify(prd, null, 2)}\n`,
  'run-tests.sh': runTests,
};

/** The agent's part. */
export const scriptText = (pauseMs: number, canRollBack: boolean): string =>
  JSON.stringify(script(pauseMs, canRollBack));
