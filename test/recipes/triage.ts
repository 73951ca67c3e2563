// Recipe "Mode" of AGENTS.md carried out on a copy: one folder, one row.
import type { Copy } from './copy.ts';

const row = `  triage: {
    rules: triageRules,
    mode: async () => (await import('./triage/mode.ts')).triageMode,
    session: async () => (await import('./prd/session.ts')).prdSession,
  },`;

export function addTriage(copy: Copy): void {
  copy.add('triage-rules.ts', 'src/modes/triage/rules.ts');
  copy.add('triage-mode.ts', 'src/modes/triage/mode.ts');
  copy.row('src/modes/registry.ts', row, '} satisfies');
  copy.row('src/modes/registry.ts', "import { triageRules } from './triage/rules.ts';", '\n/** Its types come');
}
