// What `ralph` alone prints: a dozen lines, the common commands first, and the next step for this folder.
import { existsSync } from 'node:fs';

function nextStep(): string {
  if (existsSync('PRD.json'))
    return "Next here: ralph run PRD.json --verify 'YOUR TESTS'      (see your agents: ralph agents list)";
  return 'Next here: ralph demo      (there is no PRD.json in this folder)';
}

export async function overview(): Promise<string> {
  return `Ralph works through a backlog with coding agents until it is done and proven, inside your limits.

  ralph demo                see a whole loop in a minute, no key needed
  ralph run PRD.json        work through it; the same command again resumes
  ralph status | inbox | answer E1 --option 1    what it does; the questions that wait for you
  ralph pause | resume | stop | tell "..."    steer it
  ralph diff | undo | checkpoint list         what it changed, and the way back
  ralph explain | logs | events | report | loops list    why, what was said, facts, accounts
  ralph doctor | agents list | agents test    what is installed, logged in, confined
  ralph help COMMAND        flags and examples

${nextStep()}
`;
}
