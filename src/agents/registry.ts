// Registry of agent CLIs: one row each, loaded when it is needed. Where nobody chose, the first that fits is taken.
import type { AgentCli } from './agent.ts';

const rows = {
  claude: async () => (await import('./cli/claude.ts')).claude,
  codex: async () => (await import('./cli/codex.ts')).codex,
  gemini: async () => (await import('./cli/gemini.ts')).gemini,
  opencode: async () => (await import('./cli/opencode.ts')).opencode,
  pi: async () => (await import('./cli/pi.ts')).pi,
  kiro: async () => (await import('./cli/kiro.ts')).kiro,
  q: async () => (await import('./cli/q.ts')).q,
  copilot: async () => (await import('./cli/copilot.ts')).copilot,
  goose: async () => (await import('./cli/goose.ts')).goose,
  qwen: async () => (await import('./cli/qwen.ts')).qwen,
} satisfies Readonly<Record<string, () => Promise<AgentCli>>>;

export type CliName = keyof typeof rows;

export const cliNames = Object.keys(rows) as readonly CliName[];

export const isCliName = (name: string): name is CliName => Object.hasOwn(rows, name);

export const loadCli = (name: CliName): Promise<AgentCli> => rows[name]();
