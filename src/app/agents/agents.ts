// The total table of agents: each name, how it is loaded when it is needed, and what a person is told about it.
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { AgentCli, Proof } from '../../agents/agent.ts';
import type { AgentName } from '../../config/agents.ts';
import { findProgram } from '../../processes/find-program.ts';

type Variables = Readonly<Record<string, string | undefined>>;

export type CliName = Exclude<AgentName, 'acp' | 'command' | 'scripted'>;

interface AgentRow {
  readonly load: () => Promise<AgentCli>;
  /** What a person types to get it. */
  readonly install: string;
  /** Who says what it cost: the agent itself, our price tables by its tokens, or nobody. */
  readonly cost: 'agent' | 'tokens' | 'none';
  /** Its stream names the model, so that a price is found without --model. */
  readonly namesModel: boolean;
}

const clis: Readonly<Record<CliName, AgentRow>> = {
  claude: {
    load: async () => (await import('../../agents/cli/claude.ts')).claude,
    install: 'npm install -g @anthropic-ai/claude-code',
    cost: 'agent',
    namesModel: true,
  },
  codex: {
    load: async () => (await import('../../agents/cli/codex.ts')).codex,
    install: 'npm install -g @openai/codex',
    cost: 'tokens',
    namesModel: false,
  },
  gemini: {
    load: async () => (await import('../../agents/cli/gemini.ts')).gemini,
    install: 'npm install -g @google/gemini-cli',
    cost: 'tokens',
    namesModel: true,
  },
  opencode: {
    load: async () => (await import('../../agents/cli/opencode.ts')).opencode,
    install: 'npm install -g opencode-ai',
    cost: 'agent',
    namesModel: false,
  },
  pi: {
    load: async () => (await import('../../agents/cli/pi.ts')).pi,
    install: 'npm install -g @earendil-works/pi-coding-agent',
    cost: 'agent',
    namesModel: true,
  },
  kiro: {
    load: async () => (await import('../../agents/cli/kiro.ts')).kiro,
    install: 'see https://kiro.dev/docs/cli',
    cost: 'none',
    namesModel: false,
  },
  q: {
    load: async () => (await import('../../agents/cli/q.ts')).q,
    install: 'see https://github.com/aws/amazon-q-developer-cli',
    cost: 'none',
    namesModel: false,
  },
  copilot: {
    load: async () => (await import('../../agents/cli/copilot.ts')).copilot,
    install: 'npm install -g @github/copilot',
    cost: 'none',
    namesModel: false,
  },
  goose: {
    load: async () => (await import('../../agents/cli/goose.ts')).goose,
    install: 'npm install -g @aaif/goose',
    cost: 'tokens',
    namesModel: false,
  },
  qwen: {
    load: async () => (await import('../../agents/cli/qwen.ts')).qwen,
    install: 'npm install -g @qwen-code/qwen-code',
    cost: 'tokens',
    namesModel: true,
  },
};

export const cliNames = Object.keys(clis) as readonly CliName[];

export const isCliName = (name: string): name is CliName => Object.hasOwn(clis, name);

export const rowOf = (name: CliName): AgentRow => clis[name];

/** Without --agent the first of these that is installed does the work (issue 3); acp only with a configured program. */
const preferred: readonly CliName[] = ['claude', 'codex', 'gemini', 'opencode', 'pi', 'kiro', 'q'];

export type Login =
  | { readonly known: true; readonly by: 'variable' | 'files'; readonly words: string }
  | { readonly known: false; readonly words: 'unknown' };

/** Whether the agent will find a login, as far as we can see without asking anybody. A variable beats the files. */
export function loginOf({ login }: Pick<AgentCli, 'login'>, env: Variables): Login {
  const variable = login.variables.find(name => (env[name] ?? '') !== '');
  if (variable !== undefined) {
    const billing = /API_KEY$/.test(variable) ? ' (API billing)' : '';
    return { known: true, by: 'variable', words: `${variable} is passed on${billing}` };
  }
  const home = env['HOME'];
  const hasFile = home !== undefined && isAbsolute(home) && login.files.some(name => existsSync(join(home, name)));
  return hasFile ? { known: true, by: 'files', words: 'its own files' } : { known: false, words: 'unknown' };
}

/** What is said about an agent of which we have seen only the manual. */
export function proofWords(name: string, proof: Proof): string | undefined {
  return proof === 'documented' ? `${name}: built from its manual, never run by us` : undefined;
}

export async function firstInstalled(
  env: Variables,
  directory: string,
  acpCommand: readonly string[] | undefined,
): Promise<AgentName | undefined> {
  for (const name of preferred) {
    const { program } = await clis[name].load();
    if (findProgram(program, directory, env).type === 'found') return name;
  }
  const isAcp = findProgram(acpCommand?.[0] ?? '', directory, env).type === 'found';
  return isAcp ? 'acp' : undefined;
}
