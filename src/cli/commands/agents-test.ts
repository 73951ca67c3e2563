// `ralph agents test`: one tiny real question to an agent, so that a missing login is found before the night, not in it.
import { resolve } from 'node:path';
import { readAgentName, type SmokeTest, smokeTest } from '../../app/agents/installed-agents.ts';
import { defaultAgent } from '../../app/agents/performers.ts';
import type { Config } from '../../config/settings.ts';
import { failureWords } from '../../core/failure.ts';
import { UsageError } from '../../text/errors.ts';
import { formatDuration, formatUsd } from '../../text/format.ts';
import { type Context, configuredRun, type Flags, printJson, type Words } from '../context.ts';
import { stopOnSignals } from '../interrupt.ts';
import { confirm, plain } from '../terminal.ts';

function costWords({ costUsdMicros, costEstimated, tokens }: SmokeTest): string {
  if (tokens === null || costUsdMicros === null) return 'nothing reported';
  return `${tokens} tokens, ${formatUsd(costUsdMicros)}${costEstimated ? ' (estimated)' : ''}`;
}

function lines(test: SmokeTest): readonly string[] {
  return [
    `started     ${test.started ? 'yes' : 'no'}`,
    `first byte  ${test.firstByteMs === null ? 'never' : `after ${formatDuration(test.firstByteMs)}`}`,
    `message     ${test.message === '' ? '(none)' : test.message.replaceAll('\n', ' ')}${test.failure === null && !test.obeyed ? '  (not what was asked for)' : ''}`,
    `cost        ${costWords(test)}`,
    `exit        ${test.clean ? 'clean' : test.failure === null ? 'left processes behind, which were ended' : 'failed'}`,
  ];
}

/** The agent that was named, else the one that a run would take. */
async function meant(context: Context, name: string | undefined) {
  const { env, directory } = context;
  const { config } = await configuredRun(context);
  if (name === undefined) return { config, spec: config.agent ?? (await defaultAgent({ config, env, directory })) };
  return { config, spec: await readAgentName(name) };
}

/** The test runs elsewhere: what is written as a path from here must still be found. */
function anchored(config: Config, directory: string): Config {
  const here = (word: string): string =>
    word.startsWith('./') || word.startsWith('../') ? resolve(directory, word) : word;
  const { agentCommand, acpCommand, script } = config;
  return {
    ...config,
    agentCommand: agentCommand?.replace(/^\.{1,2}\/\S+/, here),
    acpCommand: acpCommand?.map((word, at) => (at === 0 ? here(word) : word)),
    script: script === undefined ? undefined : resolve(directory, script),
  };
}

async function mayBegin(context: Context, spec: string, isSure: boolean): Promise<boolean> {
  if (isSure) return true;
  if (process.stdin.isTTY !== true)
    throw new UsageError(
      `A test asks ${spec} one real question with your own login, which costs a little.`,
      `Say that you want it: ralph agents test ${spec} --yes`,
    );
  context.say(`One real question to ${spec}, with your own login: it costs a little (usually below a cent).`);
  return confirm('Press Enter to ask it, Ctrl-C to leave ');
}

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { config: typed, spec } = await meant(context, name);
  const config = anchored(typed, context.directory);
  if (!(await mayBegin(context, spec, flags['yes'] === true))) return 130;
  const stop = stopOnSignals();
  const test = await smokeTest(spec, { config, env: context.env, home: context.home() }, stop);
  if (flags['json'] === true) printJson(context, { ...test });
  else for (const one of lines(test)) context.print(plain(one));
  if (stop.aborted) return 130;
  if (test.failure === null) return 0;
  context.say(`ralph: ${spec} cannot work: ${failureWords[test.failure.kind]}. ${plain(test.failure.detail)}`);
  context.say(`  ${test.failure.hint}`);
  return 7;
}
