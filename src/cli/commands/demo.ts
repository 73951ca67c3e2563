// `ralph demo`: a whole loop in a scratch folder that it removes, with an agent that only plays a script.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openLedger } from '../../app/app.ts';
import { type Prepared, prepareLoop, refuseFewFiles } from '../../app/session/prepare.ts';
import { makeRepository } from '../../app/session/repository.ts';
import { type Host, runSession } from '../../app/session/session.ts';
import type { Answer, Escalation, Event } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import { UsageError } from '../../text/errors.ts';
import { formatDuration, formatUsd } from '../../text/format.ts';
import { shellWord } from '../../text/text.ts';
import type { Context, Flags, Words } from '../context.ts';
import { type LiveView, liveView } from '../live.ts';
import { attendTerminal, sayEnding, terminalHost } from '../run-host.ts';
import { hanging, makeStyle, type Style, wrapped } from '../terminal.ts';

function scratchFolder(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), 'ralph-demo-')));
  } catch (error) {
    throw new UsageError(
      `No scratch folder can be made in ${tmpdir()}: ${(error as Error).message}.`,
      'Set TMPDIR to a folder that you can write.',
    );
  }
}

type Remark = (text: string) => void;

const remarking =
  (view: LiveView, style: Style): Remark =>
  text =>
    view.line(style.paint('attention', hanging('  demo: ', text, style.columns())));

/** The demo answers its own question, and says so. */
const answering =
  (remark: Remark, waitMs: number) =>
  () =>
  async ({ id, kind }: Escalation, _state: State, stop: AbortSignal): Promise<Answer | undefined> => {
    await setTimeout(waitMs, undefined, { signal: stop }).catch(() => {});
    const option = kind === 'storage' ? 2 : 1; // on, also where git fails later than we could foresee
    remark(`you would be asked here; it answers  ralph answer ${id} --option ${option}`);
    return { kind: 'option', option };
  };

/** What a newcomer cannot know. */
function remarkOn(event: Event): string | undefined {
  if (event.type === 'proof.screened' && event.restored.length > 0)
    return 'the agent had edited the test script; the check runs the real one.';
  if (event.type === 'work.committed' && event.commit !== '')
    return 'an ordinary commit on the current branch, one for each task.';
  if (event.type === 'checkpoint.restored' && event.refused === undefined)
    return 'a rollback: the half-written file is gone, yet kept in a checkpoint.';
  return undefined;
}

/** Each remark once. */
function explaining(view: LiveView, remark: Remark): LiveView {
  const said = new Set<string>();
  return {
    ...view,
    tell(event, state) {
      view.tell(event, state);
      const text = remarkOn(event);
      if (text === undefined || said.has(text)) return;
      said.add(text);
      remark(text);
    },
  };
}

/** Until the loop listens for signals itself: leaves at once, so that what stands for the exit is done. */
function leavingOnSignals(): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const leave = (signal: NodeJS.Signals): never => process.exit(signal === 'SIGINT' ? 130 : 143);
  for (const signal of signals) process.on(signal, leave);
  return () => {
    for (const signal of signals) process.off(signal, leave);
  };
}

function costChart(state: State, style: Style): string {
  const full = style.ascii ? '#' : '█';
  const total = state.spend.usage.costUsdMicros;
  const limit = state.settings.limits.costUsdMicrosMax ?? total;
  const filled = Math.max(1, Math.round((total / limit) * 40));
  return `  cost  ${full.repeat(filled)}${(style.ascii ? '.' : '░').repeat(Math.max(0, 40 - filled))}  ${formatUsd(total)} of ${formatUsd(limit)}`;
}

function introduce(context: Context, style: Style): void {
  const prose = (text: string): string => wrapped(text, style.columns() - 1).join('\n');
  const scripted =
    'Ralph demo. The agent is SCRIPTED: it plays a fixed part, no model is called, no key is needed, the costs are made up.';
  const real = 'Everything else is real, in a scratch folder that is removed at the end.';
  context.say(style.paint('strong', prose(scripted)));
  context.say(`${prose(real)}\n`);
}

interface Stage {
  readonly folder: string;
  readonly project: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Writes the project, as a repository where git allows it, and looks at it as `ralph run` would. */
async function setTheStage(context: Context, style: Style, stage: Stage, pauseMs: number): Promise<Prepared> {
  const { folder, project, home, env } = stage;
  mkdirSync(join(project, 'tests'), { recursive: true });
  for (const [name, text] of Object.entries(projectFiles)) writeFileSync(join(project, name), text);
  const refusal = await makeRepository(project, env);
  const canRollBack = refusal === undefined;
  if (!canRollBack)
    context.say(hanging('note: ', `no commits and no undo in this demo: ${refusal.problem}.`, style.columns()));
  writeFileSync(join(folder, 'script.json'), scriptText(pauseMs, canRollBack));
  const flags = {
    agent: 'scripted',
    script: '../script.json',
    verify: ['sh run-tests.sh'],
    maxCost: '0.50',
    maxIterations: '12',
    allowRedStart: true,
    backoffBase: '250ms',
    rollbackAfter: canRollBack ? '2' : undefined,
    new: true,
  };
  const prepared = await prepareLoop({ env, directory: project, home, file: 'PRD.json', flags });
  if (!canRollBack && prepared.repositoryInfo.repository !== undefined)
    throw new UsageError(
      `The scratch folder lies in the repository ${prepared.repositoryInfo.repository.directory}, which is none of the demo's.`,
      'Set TMPDIR to a folder outside of it.',
    );
  return prepared;
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  refuseFewFiles();
  const began = Date.now();
  const folder = scratchFolder();
  const stage = {
    folder,
    project: join(folder, 'greeter'),
    home: join(folder, '.ralph-home'),
    env: { PATH: context.env['PATH'], HOME: folder },
  };
  const style = makeStyle(flags);
  const pauseMs = flags['fast'] === true ? 0 : 600;
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.on('exit', remove); // a second Ctrl-C ends without unwinding
  const stay = leavingOnSignals();
  try {
    introduce(context, style);
    const prepared = await setTheStage(context, style, stage, pauseMs);
    return await play(context, style, prepared, { flags, began, pauseMs, stay });
  } finally {
    stay();
    remove();
  }
}

interface Pace {
  readonly flags: Flags;
  readonly began: number;
  readonly pauseMs: number;
  /** From here on the loop listens for signals. */
  stay(): void;
}

async function play(
  context: Context,
  style: Style,
  prepared: Prepared,
  { flags, began, pauseMs, stay }: Pace,
): Promise<number> {
  const { home, directory } = prepared;
  const scratch: Context = { ...context, home: () => home, directory };
  const ledger = await openLedger({ home, env: context.env, warn: context.say });
  const plainView = liveView(style, text => void process.stderr.write(text), false);
  const remark = remarking(plainView, style);
  const view = explaining(plainView, remark);
  const terminal = terminalHost(scratch, { ...flags, quiet: false, input: false });
  const host: Host = {
    ...terminal,
    announce: () => {},
    // There is no test yet before the first story: a red start is part of the show, and no news.
    decide: async gate => gate.id === 'red-checks' || terminal.decide(gate),
    attend: () => {
      stay();
      return attendTerminal(view, { ask: answering(remark, pauseMs) });
    },
  };
  const outcome = await runSession(prepared, ledger, host);
  if (outcome.type !== 'ran') throw new UsageError('The demo did not run: its scratch folder is not its own.');
  const { state } = outcome;
  const code = await sayEnding({ ...scratch, say: () => {} }, outcome, { requireChecks: true });
  const verified = await ledger.store.verify(state.loop.id);
  await ledger.store.close();
  if (state.control.ended?.reason === 'goal_achieved') {
    const chain = verified.ok ? `${verified.events} events verify` : 'chain is BROKEN';
    context.say(costChart(state, style));
    context.say(hanging('  ', accountOf(state, Date.now() - began, chain), style.columns()));
    context.say(whatNext(state, context, style));
  }
  return code;
}

function accountOf(state: State, tookMs: number, chain: string): string {
  const undone =
    state.checkpoints.restores === 0 ? [] : ['after two crashes the files were put back to the last good checkpoint'];
  return [
    `took ${formatDuration(tookMs)}`,
    `the ledger's ${chain}`,
    'a false "done" was caught by a check',
    'one question was asked and answered',
    ...undone,
  ]
    .join('; ')
    .concat('.');
}

/** Where Ralph itself lies, from the bundle and from the source. */
const rootFolder = (): string | undefined =>
  ['..', '../../..']
    .map(path => fileURLToPath(new URL(path, import.meta.url)).replace(/\/$/, ''))
    .find(path => existsSync(join(path, 'bin', 'ralph')));

/** The line that makes `ralph` a command of this terminal, where no folder of PATH has it. */
function pathLine(root: string, { env, directory }: Context): readonly string[] {
  const folders = (env['PATH'] ?? '').split(delimiter);
  const bin = join(root, 'bin');
  if (folders.some(folder => existsSync(join(folder, 'ralph')))) return [];
  const named = directory === root ? '"$PWD/bin:$PATH"' : `${shellWord(bin)}:"$PATH"`;
  return [`  export PATH=${named}  # first: ralph is not on your PATH`];
}

function whatNext({ checkpoints }: State, context: Context, style: Style): string {
  const root = rootFolder();
  const isHere = root === undefined || root === context.directory;
  const page = (path: string): string => (isHere ? path : join(root, path)).padEnd(25);
  const back = [
    '  ralph diff                # what a loop of yours changed',
    '  ralph undo                # takes its last iteration back; --dry-run shows it',
  ];
  return [
    '',
    style.paint('strong', 'What next'),
    ...(root === undefined ? [] : pathLine(root, context)),
    '  ralph doctor              # which agents are installed and logged in',
    "  ralph run PRD.json --agent claude --verify 'YOUR TESTS'  # or codex, gemini",
    ...(checkpoints.made === 0 ? [] : back),
    '  ralph help run            # limits, checks, what happens on a question',
    `  ${page('docs/formats/prd.md')} # how to write a PRD.json`,
    `  ${page('docs/agents.md')} # about each agent; any program of yours can be one`,
  ].join('\n');
}

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

const projectFiles: Readonly<Record<string, string>> = {
  'PRD.json': `${JSON.stringify(prd, null, 2)}\n`,
  'run-tests.sh': runTests,
};

/** The agent's part. */
const scriptText = (pauseMs: number, canRollBack: boolean): string => JSON.stringify(script(pauseMs, canRollBack));
