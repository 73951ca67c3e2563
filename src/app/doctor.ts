// Doctor: findings about what a loop needs from this machine, before it is needed; what cannot be known is called unknown.
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rememberProbes } from '../processes/contain.ts';
import { findProgram } from '../processes/find-program.ts';
import { UsageError } from '../text/errors.ts';
import { plural } from '../text/format.ts';
import {
  type InstalledAgent,
  installedAgents,
  inTempFolder,
  type MachineNeeds,
  outputOf,
} from './agents/installed-agents.ts';
import { hasLedger, openLedger } from './app.ts';

type Verdict = 'ok' | 'warning' | 'bad' | 'unknown';

/** `doctor --json` prints these. */
export interface Finding {
  readonly name: string;
  readonly verdict: Verdict;
  readonly detail: string;
  readonly fix?: string;
  /** The exit code that a bad one leads to. */
  readonly exitCode?: 1 | 7;
}

export interface DoctorNeeds extends MachineNeeds {
  readonly home: string;
}

export async function examine(needs: DoctorNeeds): Promise<readonly Finding[]> {
  rememberProbes(undefined); // a doctor looks for himself
  const found = await Promise.all([
    installedAgents(needs).then(agentFindings),
    containmentFindings(),
    gitFinding(needs),
    homeFindings(needs),
    ledgerFinding(needs),
  ]);
  return [nodeFinding(process.versions.node), ...found.flat()];
}

/** 0 without a bad finding; among bad ones, what is broken in Ralph's own ground comes before a missing agent. */
export function exitCodeOf(findings: readonly Finding[]): number {
  const codes = findings.filter(one => one.verdict === 'bad').map(one => one.exitCode ?? 1);
  return codes.includes(1) ? 1 : (codes[0] ?? 0);
}

const bad = (name: string, detail: string, fix: string): Finding => ({
  name,
  verdict: 'bad',
  detail,
  fix,
  exitCode: 1,
});
const warning = (name: string, detail: string, fix: string): Finding => ({ name, verdict: 'warning', detail, fix });

const nodeMin: readonly [number, number] = [22, 18];

export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1]);
  if (isEnough) return { name: 'node', verdict: 'ok', detail: version };
  return bad('node', `${version} is too old`, 'Install Node 22.18 or newer.');
}

function agentFindings(agents: readonly InstalledAgent[]): readonly Finding[] {
  const installed = agents.filter(one => one.installed !== null && one.name !== 'scripted');
  if (installed.length === 0) {
    const fix = `${agents[0]?.install ?? ''}; or any program of yours: --agent-command; see all: ralph agents list`;
    return [{ name: 'agents', verdict: 'bad', detail: 'none is installed', fix, exitCode: 7 }];
  }
  return installed.map(one => {
    const version = one.version ?? 'version unknown';
    const proof = one.proof === 'documented' ? '; built from its manual, never run by us' : '';
    const detail = `${version}, ${one.installed}; login: ${one.login.words}${proof}`;
    const name = `agent ${one.name}`;
    if (one.login.known) return { name, verdict: 'ok', detail };
    const { command } = one.login;
    const fix = command && `If it is not logged in: ${command}; try it: ralph agents test ${one.name}`;
    return { name, verdict: 'unknown', detail, fix: fix ?? undefined };
  });
}

async function containmentFindings(): Promise<readonly Finding[]> {
  const { containment } = await import('../processes/contain.ts');
  const contained: Finding =
    containment() === 'namespace'
      ? { name: 'processes', verdict: 'ok', detail: 'own namespace: nothing outlives an iteration' }
      : warning(
          'processes',
          'process group only: a daemon may outlive its iteration',
          'On Linux, install util-linux (unshare, setpriv) and allow user namespaces.',
        );
  return [contained, await confinementFinding()];
}

async function confinementFinding(): Promise<Finding> {
  const name = 'confinement';
  const { confinementKind } = await import('../processes/confine.ts');
  if (confinementKind() === 'none')
    return warning(
      name,
      'not confined: bubblewrap does not work here',
      'Install bubblewrap (Debian: apt install bubblewrap) and allow user namespaces.',
    );
  if (await confinementKeeps())
    return { name, verdict: 'ok', detail: 'bubblewrap: a hidden file was not seen, a read-only one not changed' };
  return bad(
    name,
    'bubblewrap starts but does not keep what it should',
    'Report this with `bwrap --version`; --sandbox none does without it.',
  );
}

/** The same way an agent is started, on files of our own. */
function confinementKeeps(): Promise<boolean> {
  return inTempFolder(async folder => {
    const { runProcess } = await import('../processes/spawn.ts');
    const { shell } = await import('../processes/contain.ts');
    const [hidden, fixed] = [join(folder, 'hidden'), join(folder, 'fixed')];
    for (const each of [hidden, fixed]) {
      mkdirSync(each);
      writeFileSync(join(each, 'file'), '');
    }
    const script = '[ ! -e "$1/file" ] && ! (echo x >"$2/file") 2>/dev/null && echo kept';
    let said = '';
    const order = {
      command: shell,
      args: ['-c', script, 'look', hidden, fixed],
      directory: folder,
      environment: { PATH: process.env['PATH'] ?? '' },
      input: '',
      timeMsMax: 5_000,
      stop: new AbortController().signal,
      confinement: { hidden: [hidden], readOnly: [fixed], writable: [] },
    };
    for await (const event of runProcess(order)) if (event.type === 'output') said += event.text;
    return said.trim() === 'kept' && statSync(join(fixed, 'file')).size === 0;
  });
}

async function gitFinding({ env, directory }: DoctorNeeds): Promise<Finding> {
  const found = findProgram('git', directory, env);
  if (found.type !== 'found') return warning('git', 'not found', 'Install git: most agents expect it.');
  const noConfig = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  const environment = { PATH: env['PATH'] ?? '', HOME: directory, ...noConfig };
  const version = /\d+\.\d+\S*/.exec(await outputOf(found.path, ['--version'], directory, environment))?.[0];
  const inside = await outputOf(found.path, ['rev-parse', '--is-inside-work-tree'], directory, environment);
  const isInside = inside.trim() === 'true';
  const detail = `${version ?? 'version unknown'}; this folder is ${isInside ? '' : 'not '}in a repository`;
  if (isInside) return { name: 'git', verdict: 'ok', detail };
  return warning('git', detail, 'git init, so that you can see and undo what an agent changes.');
}

/** The folder itself, or what it would be made in. */
function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path));
}

const bytesBad = 100_000_000;
const bytesLow = 1_000_000_000;

async function homeFindings({ home, env }: DoctorNeeds): Promise<readonly Finding[]> {
  const { networkFileSystem } = await import('../ledger/sqlite/files.ts');
  const folder = existing(home);
  const network = networkFileSystem(join(home, 'ralph.db'));
  const isAllowed = env['RALPH_ALLOW_NETWORK_HOME'] === '1';
  return [writableFinding(home, folder), fileSystemFinding(network, isAllowed), spaceFinding(folder)];
}

export function fileSystemFinding(
  network: string | undefined,
  isAllowed: boolean,
  platform = process.platform,
): Finding {
  if (platform !== 'linux') return { name: 'file system', verdict: 'unknown', detail: 'known on Linux only' };
  if (network === undefined) return { name: 'file system', verdict: 'ok', detail: 'local' };
  const detail = `${network}: a database on it can be damaged`;
  const fix = 'Set RALPH_HOME to a folder on a local disk.';
  return { name: 'file system', verdict: isAllowed ? 'warning' : 'bad', detail, fix, exitCode: 1 };
}

function writableFinding(home: string, folder: string): Finding {
  try {
    rmdirSync(mkdtempSync(join(folder, '.ralph-look-'))); // rights alone say little: root may write what cannot be
    const detail = `${home}${folder === home ? '' : ' (not there yet)'} can be written`;
    return { name: 'home', verdict: 'ok', detail };
  } catch {
    return bad('home', `${home} cannot be written`, 'Set RALPH_HOME to a folder that you can write.');
  }
}

function spaceFinding(folder: string): Finding {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    if (blocks === 0) return { name: 'disk', verdict: 'unknown', detail: `${folder} is on no disk` };
    const bytes = bavail * bsize;
    const detail = `${(bytes / 1e9).toFixed(1)} GB free`;
    if (bytes >= bytesLow) return { name: 'disk', verdict: 'ok', detail };
    const fix = 'Free some space, or set RALPH_HOME to another disk.';
    return { name: 'disk', verdict: bytes < bytesBad ? 'bad' : 'warning', detail, fix, exitCode: 1 };
  } catch {
    return { name: 'disk', verdict: 'unknown', detail: 'its space cannot be read' };
  }
}

async function ledgerFinding({ home, env }: DoctorNeeds): Promise<Finding> {
  if (!hasLedger(home)) return { name: 'ledger', verdict: 'ok', detail: 'none yet' };
  const notices: string[] = [];
  try {
    const warn = (text: string): void => void notices.push(text);
    const ledger = await openLedger({ home, env, warn, readOnly: true, quickCheck: true });
    const loops = (await ledger.store.loops()).length;
    await ledger.store.close();
    const detail = [`${plural(loops, 'loop')}, quick check passed`, ...notices].join('; ');
    return { name: 'ledger', verdict: notices.length === 0 ? 'ok' : 'warning', detail };
  } catch (error) {
    const fix = error instanceof UsageError && error.hint !== '' ? error.hint : 'ralph audit verify says more.';
    return bad('ledger', (error as Error).message, fix);
  }
}
