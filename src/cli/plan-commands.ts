// The part of the command table that is about plans and their vault.
import type { CommandRow, FlagRow } from './command-table.ts';

const json: FlagRow = { flags: '--json', description: 'print JSON for programs' };
const vault: FlagRow = { flags: '--vault <folder>', description: 'the vault (vault in this folder unless told)' };
const noInput: FlagRow = { flags: '--no-input', description: 'never ask anything at the terminal' };
const ticked: FlagRow = { flags: '--accept-ticked', description: 'boxes that were ticked before are right' };

/** `settings`: the flags of `ralph run` that are settings. */
export const planCommands = (settings: readonly FlagRow[]): readonly CommandRow[] => [
  {
    group: 'plan',
    usage: 'lint <file>',
    summary: 'everything that is wrong with a plan, at once',
    options: [vault, json],
    examples: ['ralph plan lint vault/Plans/onboarding.md', 'ralph plan lint Plan.md --json'],
    load: () => import('../modes/plan/commands/lint.ts'),
  },
  {
    group: 'plan',
    usage: 'show <plan>',
    summary: 'the steps of a plan, how far it is, and whether its approval still holds',
    options: [vault, json],
    examples: ['ralph plan show plan_client_onboarding_001', 'ralph plan show vault/Plans/onboarding.md --json'],
    load: () => import('../modes/plan/commands/show.ts'),
  },
  {
    group: 'plan',
    usage: 'approve <plan>',
    summary: 'show exactly what would be done, and record your yes to it; an edit afterwards needs a new one',
    options: [
      { flags: '--yes', description: 'approve without asking; for whoever has read it' },
      ticked,
      noInput,
      vault,
    ],
    examples: ['ralph plan approve plan_client_onboarding_001', 'ralph plan approve vault/Plans/onboarding.md --yes'],
    changes: true,
    load: () => import('../modes/plan/commands/approve.ts'),
  },
  {
    group: 'plan',
    usage: 'run <plan>',
    summary: 'carry out one plan that is approved, or that needs no approval; the same command again resumes',
    options: [
      ...settings,
      vault,
      { flags: '--yes', description: 'start without asking; it approves nothing' },
      ticked,
      noInput,
      { flags: '--quiet', description: 'print only the ending' },
      { flags: '--json', description: 'print the ending as JSON' },
      { flags: '--ascii', description: 'plain characters only' },
    ],
    examples: ['ralph plan run plan_client_onboarding_001', 'ralph plan run Plan.md --on-approval wait'],
    changes: true,
    load: () => import('../modes/plan/commands/run.ts'),
  },
  {
    group: 'plan',
    usage: 'watch',
    summary: 'start every plan that is moved into Approved/Plans, one after the other, each exactly once',
    options: [
      ...settings.filter(one => !one.flags.startsWith('--on-approval')),
      vault,
      { flags: '--once', description: 'do what is there now, then leave (for cron)' },
      { flags: '--quiet', description: 'print only the endings' },
      { flags: '--ascii', description: 'plain characters only' },
    ],
    examples: ['ralph plan watch', 'ralph plan watch --vault ~/notes/vault', 'ralph plan watch --once'],
    changes: true,
    load: () => import('../modes/plan/commands/watch.ts'),
  },
];
