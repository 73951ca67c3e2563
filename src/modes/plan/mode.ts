// Mode plan: steps from an approved Plan.md, done by actions or an agent, shown in a vault.

import { quoted } from '../../core/memory.ts';
import type { LiveIteration, State } from '../../core/state.ts';
import { allTasks } from '../../core/task.ts';
import { vaultRootOf } from '../../text/step-path.ts';
import { takeCharacters } from '../../text/text.ts';
import { iterationPrompt, joined, type PromptText } from '../iteration-prompt.ts';
import type { Mode } from '../mode.ts';
import { plan } from './document/plan.ts';
import { VaultView } from './views/files.ts';

const stepsMax = 50;
const titleCharsMax = 200;

const planInstructions = `# One step of an approved plan

A person read this plan and said yes to exactly what it says. You do one of its steps, from a clean slate.

- Do this step and nothing else. The other steps are done by tools, by files and by people; what they do must happen once.
- Do not send, publish, buy or delete anything that the step does not name.
- Do not edit the plan, and nothing in its vault that the step does not name: Ralph keeps them.
- When the step cannot be done as it is written, ask instead of doing something similar. Each tag at the start of a line,
  as the end of your last message:

<escalate type="stuck">
<summary>one line</summary>
<context>what you found, what you tried</context>
<options>
1. one way forward
</options>
<question>the question to answer</question>
</escalate>
`;

const statusText = {
  done: 'done',
  pending: 'open',
  active: 'at work',
  blocked: 'given up',
  skipped: 'left out',
} as const;

function overview({ tasks }: State): string {
  const lines = [...allTasks(tasks)]
    .slice(0, stepsMax)
    .map(({ id, spec: { title }, status }) => `${id} (${statusText[status]}): ${takeCharacters(title, titleCharsMax)}`);
  const left = tasks.size - lines.length;
  const all = [...lines.map(line => line.replaceAll(/\s+/g, ' ')), ...(left > 0 ? [`and ${left} more`] : [])];
  return `## The whole plan\n\n${quoted(all.join('\n'))}`;
}

function planPrompt(state: State, live: LiveIteration, instructions: string): PromptText {
  const made = iterationPrompt(state, live, joined([planInstructions.trim(), instructions.trim()]));
  return { ...made, text: `${made.text}\n${overview(state)}\n` };
}

export const planMode: Mode = {
  formats: [plan],
  prompt: planPrompt,
  view: ({ directory, document, areConfined }) => new VaultView(vaultRootOf(document, directory), { areConfined }),
  viewRoot: ({ directory, document }) => vaultRootOf(document, directory),
  bindsText: true,
  detectsChecks: true,
  words: {
    work: ({ path, done, total }) => ['plan', `${path} (${done}/${total} done)`],
    commits: 'a commit for every step of an agent that is done, none of the files that actions make',
  },
};
