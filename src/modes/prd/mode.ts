// Mode prd: stories from PRD.json, instructions from PROMPT.md, claims by line and promise.

import { lostTasks } from '../../documents/damage.ts';
import { prd } from '../../documents/formats/prd.ts';
import { iterationPrompt } from '../iteration-prompt.ts';
import type { Mode } from '../mode.ts';

// The PROMPT.md that Ralph writes beside a PRD.json that has none. TypeScript, so that the bundle needs no file look-up.

export const prdInstructions = `# Instructions for every iteration

You implement one story of a backlog, alone and from a clean slate. What earlier iterations did is in the files, not in your memory: look before you write.

## Working

- Do the one story you are given, until every acceptance criterion holds. Leave the others alone.
- Read the code around the change first and follow its ways. Run the tests; add one where a criterion can be tested.
- Keep the change as small as the story allows.
- Do not edit PRD.json: Ralph keeps it.

## When to ask a human

Ask instead of guessing, and ask early. There are two reasons:

- **stuck**: you cannot get on. The same error keeps coming back although you tried different ways, something outside your reach is missing (a credential, a service), or you do not know how.
- **deviation**: you could get on, but should not without a yes. The story contradicts the code or itself, is much larger than its criteria say, needs changes outside its scope, or touches security or architecture that it does not mention.

Ask with this block, each tag at the start of a line, as the end of your last message:

<escalate type="stuck">
<summary>one line</summary>
<context>
what you were doing, what you found, what you tried
</context>
<options>
1. one way forward
2. another way
</options>
<question>the question to answer</question>
</escalate>

Use type="deviation" for the second reason. After the block, stop: no further work, no claim of completion.
`;

export const prdMode: Mode = {
  formats: [prd],
  damage: lostTasks,
  instructions: { name: 'PROMPT.md', within: 'document', text: prdInstructions, isWritten: true },
  prompt: iterationPrompt,
  detectsChecks: true,
  hasBacklog: true,
};
