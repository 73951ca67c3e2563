// `ralph hook install|uninstall|status|test`: the hook in the settings of agents, and whether it is called.
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { type AgentHooks, agentOfSession, hookedAgents, hookTimeoutMs, ownProgram, runOwn } from '../../app/hooks.ts';
import { allBindings, troubles } from '../../hook/binding.ts';
import {
  changedLines,
  type HookOrder,
  hookIn,
  removeHook,
  textAt,
  withHook,
  withoutHook,
  withoutInstall,
  writeHook,
} from '../../hook/install.ts';
import { UsageError } from '../../text/errors.ts';
import { type Context, configuredRun, type Flags, printJson, type Words } from '../context.ts';
import { isInteractive } from '../run-host.ts';
import { confirm } from '../terminal.ts';

interface Place {
  readonly agent: string;
  readonly order: HookOrder;
  readonly path: string;
}

function pathOf({ env, directory }: Context, { file, projectFile }: AgentHooks, isProject: boolean): string {
  if (isProject && projectFile !== undefined) return join(directory, projectFile);
  const own = file.folderVariable === undefined ? undefined : env[file.folderVariable];
  const home = env['HOME'] ?? homedir();
  return own === undefined || !isAbsolute(own) ? join(home, file.path) : join(own, file.inFolder);
}

async function placeOf(context: Context, named: string | undefined, flags: Flags): Promise<Place> {
  const { agent } = await agentOfSession(context.env, named);
  const hooks = (await hookedAgents()).find(({ name }) => name === agent)?.hooks;
  if (hooks === undefined) throw new UsageError(`The agent ${agent} has no hooks that Ralph knows.`);
  const { config } = await configuredRun(context);
  const order = { hooks, command: ownProgram(), timeoutMs: hookTimeoutMs(config) };
  return { agent, order, path: pathOf(context, hooks, flags['project'] === true) };
}

const shownChange = (path: string, before: string | undefined, after: string | undefined): readonly string[] => [
  `In ${path}:`,
  ...changedLines(before, after).map(line => `  ${line}`),
];

/** Shows the change, and makes it when that is wanted. */
async function change(context: Context, flags: Flags, lines: readonly string[], make: () => void) {
  context.print(lines.join('\n'));
  if (flags['dryRun'] === true) return 0;
  const mayAsk = isInteractive(flags) && flags['yes'] !== true;
  if (mayAsk && !(await confirm('Press Enter to write this, Ctrl-C to leave '))) return 130;
  make();
  return undefined;
}

export async function install(context: Context, [agent]: Words, flags: Flags): Promise<number> {
  const { order, path, ...place } = await placeOf(context, agent, flags);
  const before = textAt(path);
  const edited = withHook(before, order);
  if (!edited.ok)
    throw new UsageError(
      `${path} was not changed: ${edited.problem}.`,
      'Mend it, or add the hook by hand: docs/guides/in-session.md',
    );
  const where = flags['project'] === true ? ' --project' : '';
  if (edited.text === before) {
    context.print(`The hook is in ${path} already.`);
  } else {
    const make = (): void => writeHook(context.home(), path, before, edited.text);
    const code = await change(context, flags, shownChange(path, before, edited.text), make);
    if (code !== undefined) return code;
    context.print(`Undo: ralph hook uninstall ${place.agent}${where}`);
  }
  if (order.hooks.beware !== undefined) context.say(`note: ${order.hooks.beware}`);
  return 0;
}

export async function uninstall(context: Context, [agent]: Words, flags: Flags): Promise<number> {
  const { order, path } = await placeOf(context, agent, flags);
  const before = textAt(path);
  const edited = withoutHook(before, order.hooks);
  if (!edited.ok) throw new UsageError(`${path} was not changed: ${edited.problem}.`, 'Take the hook out by hand.');
  if (before === undefined || edited.text === before) {
    context.print(`There is no hook of Ralph in ${path}.`);
    return 0;
  }
  const after = withoutInstall(context.home(), path, before, edited.text);
  const make = (): void => removeHook(context.home(), path, after);
  return (await change(context, flags, shownChange(path, before, after), make)) ?? 0;
}

const troublesShown = 5;

export async function status(context: Context, _words: Words, flags: Flags): Promise<number> {
  const home = context.home();
  const hooks = [];
  for (const { name, hooks: own } of await hookedAgents()) {
    for (const project of own.projectFile === undefined ? [false] : [false, true]) {
      const { path, order } = await placeOf(context, name, { project });
      hooks.push({ agent: name, isOfProject: project, path, hook: hookIn(textAt(path), order) });
    }
  }
  const loops = allBindings(home).map(({ name, session, directory, blocks }) => ({
    loop: name,
    session,
    directory,
    blocks,
  }));
  const given = troubles(home, troublesShown);
  if (flags['json'] === true) return printJson(context, { version: 2, hooks, loops, troubles: given });
  for (const { agent, path, hook } of hooks) context.print(`${agent.padEnd(9)} ${hookWords[hook].padEnd(22)} ${path}`);
  for (const { loop, session, directory } of loops)
    context.print(
      `loop ${loop} works in ${session === '' ? 'the first session that ends a turn' : `session ${session}`}, ${directory}`,
    );
  for (const { at, session, problem } of given)
    context.print(`${at} let the turn of ${session || 'a session'} end: ${problem}`);
  return 0;
}

const hookWords = {
  current: 'installed',
  other: 'installed, not as now',
  plugin: 'by the plugin',
  absent: 'not installed',
  unreadable: 'cannot be read',
} as const;

const testMsMax = 30_000;

/** Calls what is installed as the agent does, for a session without a loop: it has to say nothing. */
export async function test(context: Context, [agent]: Words, flags: Flags): Promise<number> {
  const { order, path, agent: name } = await placeOf(context, agent, flags);
  if (['absent', 'plugin'].includes(hookIn(textAt(path), order)))
    throw new UsageError(`There is no hook of Ralph in ${path}.`, `Install it: ralph hook install ${name}`);
  const event = {
    session_id: 'ralph-hook-test',
    hook_event_name: order.hooks.events[0],
    cwd: tmpdir(),
    transcript_path: '',
  };
  const input = JSON.stringify({ ...event, last_assistant_message: 'a test', prompt_response: 'a test' });
  const began = performance.now();
  const call = { directory: tmpdir(), env: context.env, input, timeMsMax: testMsMax };
  const ran = await runOwn(['hook', 'stop', '--timeout', '60'], call);
  const ms = Math.round(performance.now() - began);
  const isGood = ran.code === 0 && ran.output.length === 0;
  const what = isGood
    ? 'it answers, and leaves a session without a loop alone'
    : `it failed: ${ran.errors || ran.output.toString()}`;
  if (flags['json'] === true)
    return printJson(context, { version: 2, agent: name, path, ok: isGood, ms }, isGood ? 0 : 1);
  context.print(`${name}: ${what} (${ms} ms).`);
  if (order.hooks.beware !== undefined) context.say(`note: ${order.hooks.beware}`);
  return isGood ? 0 : 1;
}
