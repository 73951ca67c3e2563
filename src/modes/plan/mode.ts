// Seed 004 as data: steps from an approved Plan.md, done by actions or an agent, shown in a vault.
import { plan } from './document/plan.ts';
import { planPrompt } from './plan.ts';
import { VaultView } from './views/files.ts';
import { vaultRootOf } from './views/paths.ts';
import type { Mode } from '../mode.ts';

export const planMode: Mode = {
  name: 'plan',
  formats: [plan],
  prompt: planPrompt,
  view: ({ directory, document }) =>
    new VaultView(vaultRootOf(document, directory), document.split('/').at(-1) ?? document),
};
