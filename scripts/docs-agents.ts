// The page about agents: what each can do and how it is started comes from the adapters, what to beware of from experience.

import type { AgentCli } from '../src/agents/agent.ts';
import { networkVariables, providerKeys } from '../src/agents/launch.ts';
import { cliNames, loadCli } from '../src/agents/registry.ts';
import { stepRules } from '../src/agents/scripted.ts';
import { askingSection } from '../src/modes/iteration-prompt.ts';

const clis = await Promise.all(cliNames.map(loadCli));
const unasked = clis.filter(cli => cli.chosenFor.includes('work')).map(cli => cli.name);

const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text}'`);

function commandOf(cli: AgentCli): string {
  const order = { prompt: '', model: 'MODEL', args: [], folder: 'FOLDER', isRoot: false };
  return [cli.program, ...cli.launch(order).args.map(word)].join(' ');
}

const scriptExample = `{
  "turns": [
    { "task": "US-001", "attempt": 1, "steps": [{ "say": "I am sure." }, { "lie": true }] },
    { "task": "US-001", "steps": [{ "write": "src/a.txt", "text": "one\\n" }, { "claim": true }] },
    { "task": "US-002", "attempt": 1, "steps": [{ "fail": "connection" }] },
    { "steps": [{ "usage": { "inputTokens": 900, "costUsdMicros": 20000 } }, { "claim": true }] }
  ]
}`;

const stepMeanings: Readonly<Record<string, string>> = {
  say: 'a part of its message',
  write: 'writes the file, with `text`',
  append: 'adds `text` to the file',
  usage: 'what it used so far in this turn; money is in millionths of a dollar',
  tool: 'shows the use of a tool, with `detail`',
  wait: 'does nothing for so long',
  hang: 'does nothing until it is stopped',
  fail: 'ends as if this had happened, with `detail`',
  escalate: 'asks a person, as below',
  claim: 'says that the task is done',
  lie: 'says the same, though nothing was done for it',
  promise: 'says the promise that ends a loop',
};

const stepRow = (name: string): string => `| \`${name}\` | ${stepRules[name]?.rule} | ${stepMeanings[name]} |`;

const moneyWords = { agent: 'says its cost', tokens: 'estimated from its tokens', none: 'not reported' } as const;
const yes = (can: boolean): string => (can ? 'yes' : 'no');
const codes = (names: readonly string[]): string => names.map(name => `\`${name}\``).join(', ');

/** Two long lists are told once, at the top of the sections. */
const groups: readonly (readonly [string, readonly string[]])[] = [
  ['the network variables', networkVariables],
  ['the keys of providers', providerKeys],
];

function grouped(names: readonly string[]): string {
  const whole = groups.filter(([, group]) => group.every(name => names.includes(name)));
  const rest = names.filter(name => !whole.some(([, group]) => group.includes(name)));
  return [...whole.map(([title]) => title), ...rest.map(name => `\`${name}\``)].join(', ');
}

function section(cli: AgentCli): string {
  const set = Object.entries(cli.fixedEnvironment).map(([key, value]) => `${key}=${value}`);
  const files = codes(cli.login.files.map(file => `~/${file}`));
  const seen = [grouped(cli.login.variables), files].filter(text => text !== '').join(', ');
  return [
    `### ${cli.name}`,
    cli.beware,
    [
      `* Started as \`${commandOf(cli)}\`, with the prompt on standard input.`,
      `* Sees, besides the harmless variables: ${grouped(cli.environment)}.`,
      ...(cli.clouds ?? []).map(cloud => `* With \`${cloud.switch}\` also: ${codes(cloud.variables)}.`),
      ...(set.length === 0 ? [] : [`* Always set: ${codes(set)}.`]),
      `* A login is known by ${seen === '' ? 'nothing that can be seen from outside' : seen}. To log in: \`${cli.login.command}\`.`,
      `* To install: ${cli.install.startsWith('npm') ? `\`${cli.install}\`` : cli.install}.`,
    ].join('\n'),
  ].join('\n\n');
}

export function agentsPage(table: (head: readonly string[], rows: readonly (readonly string[])[]) => string): string {
  return [
    '# Agents',
    [
      'An agent is named `AGENT` or `AGENT/MODEL`: `claude`, `claude/opus`, `opencode/anthropic/claude-x`. What stands after the',
      'first slash is the model, by the name that the agent knows.',
    ].join('\n'),
    [
      '```',
      "ralph run PRD.json --agent claude --verify 'npm test'",
      "ralph run PRD.json --agent claude/opus --fallback codex/gpt-5,gemini --verify 'npm test'",
      'ralph run PRD.json --agent codex --task-agent US-003=claude/opus --phase-agent reviewing=gemini',
      'ralph agents list',
      'ralph agents test claude',
      'ralph doctor',
      '```',
    ].join('\n'),
    [
      `Without \`--agent\` the first installed of ${unasked.join(', ')} does the work, and acp when`,
      '`--acp-command` is set. The card says which one was found. A loop that goes on keeps its agents unless you name others.',
      'An agent that is named but not installed is refused with exit code 7 before anything is written.',
    ].join('\n'),
    table(
      ['agent', 'proof', 'told while it works', 'tools of Ralph', 'money', 'names its model'],
      [
        ...clis.map(({ name, proof, can, cost, namesModel, withTools }) => [
          name,
          proof,
          yes(can.steer),
          yes(withTools !== undefined),
          moneyWords[cost],
          yes(namesModel),
        ]),
        ['acp', 'live', 'yes', 'no', 'says its cost, or estimated from its tokens', 'no'],
        ['command', 'live', 'no', 'no', 'not reported', 'no'],
        ['scripted', 'live', 'no', 'no', 'made up by its script', 'no'],
      ],
    ),
    [
      'Proof says how we know that an adapter is right. *live*: the real program was run, against our own mock of the model',
      'on 127.0.0.1. *recorded*: its real output was kept and is read in tests. *documented*: only its manual was read; the',
      'card and `ralph agents list` say so. *told while it works*: `ralph tell` reaches it at once, the others with their next prompt.',
    ].join('\n'),
    '## What every agent gets',
    [
      '* The prompt by standard input, never as an argument: it may be long.',
      '* A short environment: `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`, `LANG`, `LC_*`, `TZ`, `TERM`, `TMPDIR`, the names listed',
      '  below, `RALPH_LOOP`, `RALPH_TASK`, `RALPH_ITERATION`, and what `--agent-env` allows.',
      '* All permissions of its own kind, as nobody is there to ask. So keep it confined: where bubblewrap works, the folder of',
      '  Ralph is hidden from agents and checks, and git hooks and git config are read-only. Other files and the network are',
      '  open. `--sandbox bwrap` exits with 10 where that does not work; `--sandbox none` does without.',
      '* Time: two minutes to its first output (`--first-byte-timeout`), ten minutes of silence (`--silence-timeout`), thirty',
      '  while a tool works, `--iteration-timeout` in all. The command agent has only the last one, unless you set the others.',
      '* Memory and processes: 75 % of the machine and 4000, `--max-memory` and `--max-processes`. Over that, the iteration ends.',
      '* The tools of Ralph (MCP) where the table says so, beside its own servers: [guides/mcp.md](guides/mcp.md); `--no-mcp`: none.',
      '* Few retries of its own where they can be set: waiting and falling back are up to Ralph.',
    ].join('\n'),
    '## Limits, failures and the chain',
    [
      'A provider that says when it serves again is waited for until then; that is no error and costs nothing, and it survives',
      'a restart. With `--fallback` the next agent of the chain works meanwhile. An overloaded provider is tried again later,',
      'with growing pauses. `ralph resume` ends such a wait. A refused login or a lack of credit is a question to you; the',
      'others of the chain go on, and without one the loop stops (exit code 7 without a terminal).',
      '',
      '`ralph tell` reaches an agent that can be told while it works; for the others it stands at the top of the',
      'next prompt, and the command says which happened.',
    ].join('\n'),
    [
      'Costs that an agent does not state are estimated from its tokens by the bundled price list. A model without a known',
      'price counts $30 for a million tokens read, $3 from a cache, and $180 for a million written: more than any of them, so',
      'that a money limit ends a loop too early rather than too late. With claude, opencode and pi that is counted only at the',
      'end of an iteration in which they did not say the cost themselves. An agent that gives only a sum of its tokens may be',
      'counted at a higher price for long contexts, though no single request was that long.',
    ].join('\n'),
    [
      'Some agents say what they used only at a good end: codex, gemini, goose. When they end in another way after some work,',
      'the tokens are guessed from the length of the prompt and of what they wrote, and from the number of their tool calls; so',
      'the money of such an iteration counts afterwards, as an estimate, and not while it works.',
    ].join('\n'),
    '## Each agent',
    [`The network variables are ${codes(networkVariables)}.`, `The keys of providers are ${codes(providerKeys)}.`].join(
      '\n',
    ),
    ...clis.map(section),
    '### acp',
    [
      "Any program that speaks the Agent Client Protocol: `--agent acp --acp-command 'gemini --acp'`, `opencode acp`,",
      '`claude-agent-acp`, `codex-acp`, `goose acp`, `qwen --acp`. A project cannot set that command. What the agent behind it',
      'may see of the environment is the same as above, when its program is one of these; allow more with `--agent-env`.',
      'Requests for permission are answered with yes. It can be told things while it works, and is cancelled by its protocol.',
    ].join('\n'),
    '### command',
    [
      "Any program: `--agent-command 'my-agent --headless'`. It gets the prompt on standard input, what it prints is its",
      'message, its exit code is the outcome. It reports no cost. A task counts as claimed only by a line of its own, so print',
      'one when it is done:',
    ].join('\n'),
    [
      '```sh',
      'prompt=$(cat)                           # what is to be done',
      'my-model "$prompt"                      # does the work in this folder',
      'echo "Task $RALPH_TASK complete"        # the claim; then your checks decide',
      '```',
    ].join('\n'),
    '### scripted',
    [
      'Plays a JSON file and calls no model: for `ralph demo` and for trying out limits, checks and questions.',
      '`ralph run PRD.json --script try.json` takes it without `--agent`. Such a file:',
    ].join('\n'),
    ['```json', scriptExample, '```'].join('\n'),
    [
      'For an iteration the first turn is played that fits its task and attempt; a turn without `task` or without `attempt`',
      'fits any. Where none fits, the iteration fails. The steps of a turn are carried out in order:',
    ].join('\n'),
    ['| step | its value | what it does |', '|---|---|---|', ...Object.keys(stepRules).map(stepRow)].join('\n'),
    '## How an agent asks you',
    [
      'Any agent, also a program of yours, ends its last message with this block. The task waits, the loop goes on with',
      'others, and `ralph inbox` shows the question. This is what every prompt says about it:',
    ].join('\n'),
    askingSection.replace('## When to ask a person\n\n', ''),
    [
      'All but the question may be left out. The summary is cut after 200 characters, the context after 2,000, the question',
      'after 500; at most nine options are read, each of at most 300. A block that only gets mentioned in a sentence is none: its tag',
      'stands at the start of a line, in a code fence or not. Said again as it stands above it asks nothing. A claim or a promise in the same message does not count.',
    ].join('\n'),
  ].join('\n\n');
}
