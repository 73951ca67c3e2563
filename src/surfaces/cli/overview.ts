// What `ralph` alone prints: a dozen lines, the common commands first, and the next step for this folder.
import { existsSync } from 'node:fs';

function nextStep(): string {
  if (existsSync('PRD.json')) return "Next here: ralph run PRD.json --agent-command 'YOUR AGENT' --verify 'YOUR TESTS'";
  return 'Next here: ralph demo      (there is no PRD.json in this folder)';
}

export async function overview(): Promise<string> {
  return `Ralph works through a backlog with coding agents until it is done and proven, inside your limits.

  ralph demo                see a whole loop in a minute, no key needed
  ralph run PRD.json        work through it; the same command again resumes
  ralph status | inbox      what it does; the questions that wait for you
  ralph answer E1 --option 1    answer one
  ralph pause | resume | stop | tell "..."    steer it
  ralph explain | logs | events | report      why, what was said, every fact, the account
  ralph loops list | loops show | audit verify
  ralph help COMMAND        flags and examples

${nextStep()}
`;
}
