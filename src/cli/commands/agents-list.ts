// `ralph agents list`: which agents there are, which of them are here, and how well we know each.
import { proofWords } from '../../app/agents/agents.ts';
import { type InstalledAgent, installedAgents } from '../../app/agents/installed-agents.ts';
import { resolveRunConfig } from '../../app/app.ts';
import { refuseProblems } from '../../app/problems.ts';
import type { Context, Flags, Words } from '../context.ts';

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
  const resolved = await resolveRunConfig(env, directory, {});
  if (!resolved.ok) refuseProblems(resolved.problems);
  const agents = await installedAgents({ env, directory, config: resolved.run.config });
  if (flags['json'] === true) {
    context.out(JSON.stringify({ version: 1, agents }, null, 2));
    return 0;
  }
  context.out('agent     version           proof      what it can, and its login');
  for (const one of agents) {
    context.print(line(one));
    if (one.installed === null) context.print(`          ${one.install}`);
    else if (one.name !== 'scripted') context.print(`          ${one.installed}`);
  }
  for (const one of agents) {
    const words = proofWords(one.name, one.proof);
    if (words !== undefined) context.say(words);
  }
  return 0;
}
