// `npm run test:live [-- NAME...]`: the real agent CLIs, driven by the real ralph against our own mock; no account, no network.
import { execFileSync, spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { type LiveAgent, liveAgents } from './agents.ts';
import { type HookTrial, hookTrials, playTrials } from './hook.ts';
import { type Installed, install } from './install.ts';
import { interviewScenarios } from './interview.ts';
import { mcpScenarios } from './mcp.ts';
import { modeScenarios } from './modes.ts';
import { type LivePlace, makePlace } from './place.ts';
import { pluginTrials } from './plugin.ts';
import { type Scenario, type Stand, scenarios } from './scenarios.ts';
import { worldScenarios } from './world.ts';

const scenarioMsMax = 240_000; // opencode tries again by itself for more than a minute

interface Row {
  readonly agent: string;
  readonly version: string;
  readonly scenario: string;
  readonly ok: 'ok' | 'FAILED' | 'skipped';
  readonly seconds: number;
}

const { values, positionals } = parseArgs({
  options: {
    inside: { type: 'boolean' },
    only: { type: 'string' },
    keep: { type: 'boolean' },
    times: { type: 'string' }, // of the trials in sessions
  },
  allowPositionals: true,
});

/** `npm run test:live -- hook` or `plugin`: loops in sessions, instead of loops that start agents. */
const inSessions = { hook: hookTrials, plugin: pluginTrials }[positionals[0] ?? '']?.filter(trial =>
  trial.name.includes(values.only ?? ''),
);

function chosen(): readonly LiveAgent[] {
  if (inSessions !== undefined)
    return liveAgents.filter(agent => inSessions.some(trial => trial.agents.includes(agent.name)));
  const unknown = positionals.filter(name => !liveAgents.some(agent => agent.name === name));
  if (unknown.length > 0) throw new Error(`no live agent is called ${unknown.join(', ')}`);
  return positionals.length === 0 ? liveAgents : liveAgents.filter(agent => positionals.includes(agent.name));
}

/** A network of its own with nothing but the loopback: the proof that none is used. */
const namespace = ['unshare', '--net', '--', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];

function canSeparate(): boolean {
  const [command, ...words] = [...namespace, 'true'];
  return process.getuid?.() === 0 && spawnSync(command ?? '', words, { stdio: 'ignore' }).status === 0;
}

async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it hangs: ${scenarioMsMax} ms have passed`)), scenarioMsMax);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function play(agent: LiveAgent, bin: string, scenario: Scenario): Promise<Row> {
  const began = performance.now();
  const places: LivePlace[] = [];
  const stand: Stand = {
    agent,
    bin,
    async place(needs) {
      const place = await makePlace({ agent, bin, ...needs });
      places.push(place);
      return place;
    },
  };
  let ok: Row['ok'] = 'ok';
  try {
    await inTime(scenario.run(stand));
  } catch (error) {
    ok = 'FAILED';
    console.error(`\n${agent.name}: ${scenario.name}: ${error instanceof Error ? error.stack : String(error)}`);
    for (const place of places) console.error(await place.account());
  }
  if (values.keep) for (const place of places) console.error(`kept: ${place.project}`);
  else for (const place of places) await place.remove();
  const row = { agent: agent.name, version: agent.version, scenario: scenario.name, ok };
  return { ...row, seconds: (performance.now() - began) / 1_000 };
}

async function playAll(agent: LiveAgent, installed: Installed): Promise<readonly Row[]> {
  const { name, version } = agent;
  if (!installed.ok) {
    const scenario = `could not be installed: ${installed.why}`;
    return [{ agent: name, version, scenario, ok: 'skipped', seconds: 0 }];
  }
  const rows: Row[] = [];
  for (const scenario of [...scenarios, ...modeScenarios, ...worldScenarios, ...interviewScenarios, ...mcpScenarios]) {
    if (values.only !== undefined && !scenario.name.includes(values.only)) continue;
    if (scenario.fits?.(agent) === false) continue;
    rows.push(await play(agent, installed.bin, scenario));
  }
  return rows;
}

function print(rows: readonly Row[], separated: boolean): void {
  const network = separated ? 'in a network of their own with the loopback only' : 'in the network of this machine';
  console.log(`\nLive: real agent CLIs, real ralph, mock of the model APIs on 127.0.0.1, ${network}`);
  for (const { agent, version, scenario, ok, seconds } of rows) {
    console.log(
      `${agent.padEnd(9)} ${version.padEnd(8)} ${ok.padEnd(7)} ${seconds.toFixed(1).padStart(6)} s  ${scenario}`,
    );
  }
}

/** One after the other: they take the time of turns. */
async function playSessions(trials: readonly HookTrial[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [at, agent] of agents.entries()) {
    const one = installed[at];
    if (one?.ok !== true) continue;
    for (const { trial, passed, times, seconds } of await playTrials(trials, agent, one.bin, timesMax)) {
      const ok = passed === times ? 'ok' : 'FAILED';
      const scenario = `${passed} of ${times}: ${trial}`;
      rows.push({ agent: agent.name, version: agent.version, scenario, ok, seconds });
    }
  }
  return rows;
}

const timesMax = Number(values.times ?? Number.POSITIVE_INFINITY);
const agents = chosen();
const installed = await Promise.all(agents.map(agent => install(agent, !values.inside)));
for (const [at, { name, version }] of agents.entries()) {
  const one = installed[at];
  if (one?.ok === false && !values.inside) console.log(`${name} ${version} is skipped, its install failed: ${one.why}`);
}
if (!values.inside && canSeparate()) {
  const [command, ...words] = [...namespace, process.execPath, ...process.argv.slice(1), '--inside'];
  process.exitCode = spawnSync(command ?? '', words, { stdio: 'inherit' }).status ?? 1;
} else {
  execFileSync(process.execPath, [new URL('../../scripts/build.mjs', import.meta.url).pathname], { stdio: 'inherit' });
  const rows = inSessions
    ? await playSessions(inSessions)
    : (await Promise.all(agents.map((agent, at) => playAll(agent, installed[at]!)))).flat();
  print(rows, values.inside === true);
  process.exitCode = rows.some(({ ok }) => ok === 'FAILED') ? 1 : 0;
}
