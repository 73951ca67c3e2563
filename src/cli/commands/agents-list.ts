// `ralph agents list`: which agents there are, which of them are here, and how well we know each.
import { proofWords } from '../../app/agents/agents.ts';
import { type InstalledAgent, installedAgents } from '../../app/agents/installed-agents.ts';
import { type Context, configuredRun, type Flags, printJson, type Words } from '../context.ts';

/** What an agent can do, in the words of the port. */
const abilities = ['steer', 'resume', 'interactive', 'usage'] as const;

function line(one: InstalledAgent): string {
  const unknown = one.name === 'scripted' ? 'built in' : 'version unknown';
  const missing = one.name === 'command' || one.name === 'acp' ? 'none named' : 'not installed';
  const place = one.installed === null ? missing : (one.version ?? unknown);
  const login = one.installed === null ? '' : `login ${one.login.known ? one.login.words : 'unknown'}`;
  const can = abilities.filter(ability => one.can[ability]).join(' ') || 'nothing more';
  return `${one.name.padEnd(9)} ${place.padEnd(17)} ${one.proof.padEnd(10)} can: ${can.padEnd(25)} ${login}`.trimEnd();
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const { env, directory } = context;
  const { config } = await configuredRun(context);
  const agents = await installedAgents({ env, directory, config });
  if (flags['json'] === true) return printJson(context, { agents });
  context.print('agent     version           proof      what it can, and its login');
  for (const one of agents) {
    context.print(line(one));
    if (one.installed === null) context.print(`          ${one.install}`);
    else if (one.name !== 'scripted') context.print(`          ${one.installed}`);
  }
  context.say(
    'can: steer = hears ralph tell at once; interactive = takes the terminal; usage = reports tokens or cost',
  );
  for (const words of agents.flatMap(one => proofWords(one.name, one.proof) ?? [])) context.say(words);
  return 0;
}
