// `ralph demo`: a whole loop in a scratch folder that it removes, with an agent that only plays a script.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLedger } from '../../app.ts';
import { UsageError } from '../../core/errors.ts';
import type { Answer, Escalation } from '../../core/event.ts';
import { formatDuration, formatUsd } from '../../core/format.ts';
import type { State } from '../../core/state.ts';
import { card } from './card.ts';
import { chooseLoop } from './choose.ts';
import type { Context } from './context.ts';
import { demoFiles } from './demo-project.ts';
import { type LiveView, liveView } from './live.ts';
import { prepare } from './prepare.ts';
import { finish, launch } from './run.ts';
import { hanging, makeStyle, type Style, wrapped } from './style.ts';

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

const pause = (ms: number, stop: AbortSignal): Promise<void> =>
  new Promise(done => {
    const timer = setTimeout(done, ms);
    stop.addEventListener('abort', () => {
      clearTimeout(timer);
      done();
    });
  });

/** The demo answers its own question, and says so. */
const answering =
  (view: LiveView, style: Style, waitMs: number) =>
  () =>
  async (escalation: Escalation, _state: State, stop: AbortSignal): Promise<Answer | undefined> => {
    await pause(waitMs, stop);
    view.line(
      style.paint(
        'attention',
        hanging(
          '  demo: ',
          `you would be asked here; it answers as  ralph answer ${escalation.id} --option 1  would.`,
          style.columns(),
        ),
      ),
    );
    return { kind: 'option', option: 1 };
  };

function costChart(state: State, style: Style): readonly string[] {
  const full = style.ascii ? '#' : '█';
  const total = state.usage.costUsdMicros;
  const limit = state.settings.limits.costUsdMicrosMax ?? total;
  const filled = Math.max(1, Math.round((total / limit) * 40));
  return [
    `  cost  ${full.repeat(filled)}${(style.ascii ? '.' : '░').repeat(Math.max(0, 40 - filled))}  ${formatUsd(total)} of ${formatUsd(limit)}`,
  ];
}

function introduce(context: Context, style: Style): void {
  const prose = (text: string): string => wrapped(text, style.columns() - 1).join('\n');
  const scripted =
    'Ralph demo. The agent is SCRIPTED: it plays a fixed part, no model is called, no key is needed, the costs are made up.';
  const real =
    'The loop, the checks, the question, the ledger and the limits are the real ones. Everything happens in a scratch folder.';
  context.say(style.paint('strong', prose(scripted)));
  context.say(`${prose(real)}\n`);
}

export async function execute(
  context: Context,
  _words: readonly (string | undefined)[],
  flags: Readonly<Record<string, unknown>>,
): Promise<number> {
  const began = Date.now();
  const folder = scratchFolder();
  const home = join(folder, '.ralph-home');
  const project = join(folder, 'greeter');
  const style = makeStyle(flags);
  const pauseMs = flags['fast'] === true ? 0 : 900;
  const scratch: Context = { ...context, home: () => home, directory: project };
  try {
    mkdirSync(join(project, 'tests'), { recursive: true });
    for (const [name, text] of Object.entries(demoFiles(pauseMs))) writeFileSync(join(project, name), text);
    introduce(context, style);
    const settings = {
      agent: 'scripted',
      script: 'script.json',
      verify: ['sh run-tests.sh'],
      maxCost: '0.50',
      maxIterations: '12',
    };
    const env = { PATH: context.env['PATH'], HOME: folder };
    const prepared = await prepare({ env, directory: project, home }, 'PRD.json', settings);
    const ledger = await openLedger({ home, env: context.env, warn: context.say });
    const chosen = await chooseLoop(scratch, ledger, prepared, {}, false);
    if ('exitCode' in chosen) throw new UsageError('The demo found a loop that is not its own.');
    context.say(card(prepared, chosen, style));
    const view = liveView(style, text => void process.stderr.write(text), false);
    const { result, interrupted } = await launch({
      context: scratch,
      ledger,
      prepared,
      chosen,
      view,
      ask: answering(view, style, pauseMs),
      allowEmptyCriteria: false,
    });
    const quiet: Context = { ...scratch, say: () => {} };
    const code = finish(quiet, view, result, interrupted, { requireChecks: true });
    const verified = await ledger.store.verify(chosen.loop);
    await ledger.store.close();
    if ('state' in result && result.state.ended?.reason === 'goal_achieved') {
      context.say(costChart(result.state, style).join('\n'));
      context.say(
        hanging(
          '  ',
          `took ${formatDuration(Date.now() - began)}; the ledger's ${verified.ok ? `${verified.events} events verify` : 'chain is BROKEN'}; a false "done" was caught by a check; one question was asked and answered.`,
          style.columns(),
        ),
      );
      context.say(whatNext(style));
    }
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function whatNext(style: Style): string {
  return [
    '',
    style.paint('strong', 'What next'),
    '  ralph doctor              # which agents are installed and logged in',
    "  ralph run PRD.json --agent claude --verify 'YOUR TESTS'      # or codex, gemini, any program of yours",
    '  ralph help run            # limits, checks, what happens on a question',
    '  docs/formats/prd.md       # how to write a PRD.json; docs/agents.md: about each agent',
  ].join('\n');
}
