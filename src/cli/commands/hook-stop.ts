// `ralph hook stop`: what the host of a session calls at the end of each turn. Without a loop it loads next to nothing.
import { writeSync } from 'node:fs';
import type { Visited } from '../../app/hooks.ts';
import { allBindings, writeRest } from '../../hook/binding.ts';
import { standardInput } from '../../hook/idle.ts';
import { type Doors, stopHook } from '../../hook/stop.ts';
import { openTranscript } from '../../hook/transcript.ts';
import { type Context, type Flags, textFlag, type Words } from '../context.ts';

/** The least that a host waits unless told: what was not installed by us says nothing of it. */
const usualTimeoutS = 60;
const reserveMs = 10_000;

async function openDoors(context: Context, stop: AbortSignal): Promise<Doors> {
  const app = await import('../../app/hooks.ts');
  const { env, by, say } = context;
  const home = context.home();
  const ledger = await context.ledger({ write: true, create: true });
  const placeOf = (session: string) => ({ home, env, ledger, session, by, say, stop });
  return {
    alone: (session, work) => app.withLease(ledger, app.hookLease(session), () => undefined, work),
    visit: (binding, visiting) => app.visitLoop(placeOf(binding.holder), binding.loop, visiting),
    begin: async (found): Promise<Visited> => {
      const { directory, session, prompt, ...terms } = found;
      const file = await app.promptDocument(home, prompt, terms);
      const { agent } = await app.agentOfSession(env, undefined);
      const draft = { home, env, directory, file, flags: { allowRedStart: true } };
      return app.startInSession(placeOf(session), draft, agent);
    },
    pause: (binding, because) => app.pauseLoop(placeOf(binding.holder), binding.loop, because),
    cancel: binding => app.stopLoop(placeOf(binding.holder), binding.loop),
    headless: ({ loop, directory }) =>
      app.startBeside(['resume', loop, '--headless', '--yes', '--no-input', '--quiet'], directory, env),
    catchUp: ({ session, directory }) => app.startBeside(['hook', 'stop', '--count', session], directory, env),
  };
}

/** How many blocks in a row the host allows: by its own variable, else as it was when the hook was installed. */
function capOf({ env }: Context, flags: Flags): number | undefined {
  const [turns, variable = ''] = textFlag(flags, 'cap')?.split(',') ?? [];
  const said = env[variable];
  const cap = Number(said !== undefined && /^\d+$/.test(said) ? said : turns);
  return Number.isInteger(cap) && cap > 0 ? cap : undefined;
}

/** Outside of the hook: what it had no time to count. */
function countRest(home: string, session: string): number {
  const binding = allBindings(home).find(one => one.session === session);
  const opened = binding && openTranscript(binding.transcript);
  if (binding === undefined || opened?.ok !== true) return 0;
  writeRest(home, binding, opened.transcript.since(Math.max(0, binding.offset), true));
  opened.transcript.close();
  return 0;
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const quiet: Context = { ...context, say: () => {} };
  const home = context.home();
  const counted = textFlag(flags, 'count');
  if (counted !== undefined) return countRest(home, counted);
  const seconds = Number(textFlag(flags, 'timeout') ?? usualTimeoutS);
  const stop = AbortSignal.timeout(Math.max(1_000, seconds * 1_000 - reserveMs));
  const cap = capOf(context, flags);
  const open = (): Promise<Doors> => openDoors(quiet, stop);
  const text = await stopHook(await standardInput(), { home, env: context.env, cap, open });
  if (text !== '') writeSync(1, text);
  return 0;
}
