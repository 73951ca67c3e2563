// What belongs into the system prompt reaches every agent exactly once: by its own way, or before the prompt.
import { describe, expect, it } from 'vitest';
import type { AgentCli, Launch, LaunchOrder } from '../../src/agents/agent.ts';
import { commandAgent } from '../../src/agents/command.ts';
import { type CliAgentOptions, cliAgent } from '../../src/agents/driver.ts';
import type { Assignment } from '../../src/agents/performer.ts';
import { loadCli } from '../../src/agents/registry.ts';
import { clis, plainPrices } from '../contracts/cli-agent.ts';
import { activitiesOf, assignmentIn, endOf } from '../contracts/performer.ts';
import { plainEnvironment, scratchDirectory } from '../processes/fixture.ts';
import { agent as acpAgent, run as runAcp } from './acp/stage.ts';

const system = 'HANDED-OVER';
const prompt = 'DO-THE-WORK';
const taking = clis.filter(({ systemFlags }) => systemFlags !== undefined);

/** What the driver orders, and what the adapter makes of it; no process is started. */
async function launched(
  cli: AgentCli,
  more: Partial<Assignment> = {},
  options: Partial<CliAgentOptions> = {},
): Promise<{ readonly order: LaunchOrder; readonly launch: Launch }> {
  const orders: LaunchOrder[] = [];
  const watched: AgentCli = {
    ...cli,
    launch(order) {
      orders.push(order);
      throw new Error('that is all we wanted to see');
    },
  };
  const usual = { name: cli.name, program: 'none', environment: {}, args: [], prices: plainPrices };
  const assignment = assignmentIn('/nowhere', { system, prompt, ...more });
  await activitiesOf(cliAgent(watched, { ...usual, ...options }), assignment);
  const [order] = orders;
  if (order === undefined) throw new Error('nothing was ordered');
  return { order, launch: cli.launch(order) };
}

const placesOf = ({ args, input, files = {}, environment = {} }: Launch): readonly string[] => [
  ...args,
  input,
  ...Object.values(files),
  ...Object.values(environment),
];
const timesIn = (places: readonly string[], words: string): number => places.join('\n').split(words).length - 1;

describe.each(clis.map(cli => [cli.name, cli] as const))('%s', (_name, cli) => {
  it('is told it exactly once, beside its prompt or before it', async () => {
    const { launch } = await launched(cli);
    const places = placesOf(launch);
    expect([timesIn(places, system), timesIn(places, prompt)]).toEqual([1, 1]);
    if (cli.systemFlags === undefined) expect(launch.input).toContain(`${system}\n\n${prompt}`);
    else expect(launch.input).not.toContain(system);
  });

  it('is told nothing but its prompt where there is none', async () => {
    const { order, launch } = await launched(cli, { system: '' });
    expect([order.system, order.prompt]).toEqual([undefined, prompt]);
    expect(placesOf(launch).some(place => place.includes('system'))).toBe(false);
  });

  it.each([
    ['is longer than an argument may safely be', { system: `${system}${'é'.repeat(50_000)}` }],
    ['cannot be an argument', { system: `${system}\0` }],
    ['goes to an agent at the terminal', { interactive: true }],
  ])('gets it before its prompt when it %s', async (_why, more) => {
    const { order } = await launched(cli, more);
    expect(order.system).toBeUndefined();
    expect(order.prompt.startsWith(system)).toBe(true);
    expect(order.prompt.endsWith(`\n\n${prompt}`)).toBe(true);
  });
});

describe('an agent with a way for it', () => {
  it('is one of these; the others have a way that replaces what is there, or none', () => {
    expect(taking.map(({ name }) => name).sort()).toEqual(['claude', 'goose', 'opencode', 'pi', 'qwen']);
  });

  it.each(taking.flatMap(cli => (cli.systemFlags ?? []).map(word => [cli.name, word, cli] as const)))(
    '%s keeps what its user says by %s, and gets ours before the prompt',
    async (_name, word, cli) => {
      const byArgument = await launched(cli, {}, { args: [`${word}=theirs`] });
      const byVariable = await launched(cli, {}, { environment: { [word]: 'theirs' } });
      for (const { order } of [byArgument, byVariable]) {
        expect([order.system, order.prompt]).toEqual([undefined, `${system}\n\n${prompt}`]);
      }
    },
  );

  it.each(['claude', 'pi', 'opencode'] as const)(
    '%s has it in a file, where no list of processes shows it',
    async name => {
      const { launch } = await launched(await loadCli(name));
      expect(Object.values(launch.files ?? {})).toEqual([system]);
      expect(timesIn(launch.args, system)).toBe(0);
    },
  );

  it('has words in its prompt that look like a flag, and they stay words', async () => {
    const { launch } = await launched(await loadCli('goose'), { system: '--recipe evil' });
    expect(launch.args).toContain('--system=--recipe evil');
  });
});

describe('a performer that is no agent CLI', () => {
  it('of any program has it before its prompt on stdin', async () => {
    const agent = commandAgent({ command: 'cat', environment: plainEnvironment });
    const assignment = assignmentIn(scratchDirectory(), { system, prompt });
    expect(endOf(await activitiesOf(agent, assignment)).message).toBe(`${system}\n\n${prompt}`);
  });

  it('that speaks ACP has it before its prompt', async () => {
    const ran = await runAcp(acpAgent('measures-prompt'), { system, prompt });
    expect(ran.end.message.trim()).toBe(String(`${system}\n\n${prompt}`.length));
  });
});
