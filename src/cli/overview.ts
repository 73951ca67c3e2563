// What `ralph` alone prints: a dozen lines, the ways to start first, and the next step for this folder.
import { relative } from 'node:path';

async function nextStep(): Promise<string> {
  const { findDocument } = await import('../app/modes.ts');
  const directory = process.cwd();
  const sought = { directory, home: '', given: undefined, mode: undefined, isDry: true };
  const found = await findDocument(sought).catch(() => undefined);
  if (found === undefined) return 'Next here: ralph demo   (there is no document in this folder)';
  const file = relative(directory, found.path);
  const project = /^\.artefacts\/([^/]+)\//.exec(file)?.[1];
  return `Next here: ralph ${project === undefined ? `run ${file}` : `execute ${project}`} --verify 'YOUR TESTS'`;
}

export async function overview(): Promise<string> {
  return `Ralph works with coding agents until it is done and proven, inside your limits.

  ralph demo                see a whole loop in a minute, no key needed
  ralph run "GOAL" | FILE   a goal, PRD, prompt or checklist; once more: resumes
  ralph init | interview | execute NAME     a project, from its brief to its end
  ralph plan approve | run, review FILE, task list    steps; reviewers; tasks
  ralph status | inbox | answer | pause | resume | stop | tell      watch, steer
  ralph diff | undo | checkpoint list       what it changed, and the way back
  ralph report | explain | logs | events | loops list     what happened, and why
  ralph doctor | agents list | help COMMAND     what is installed; every flag

${await nextStep()}
`;
}
