// How a person has a document worked on, as a line that can be typed in this folder.
import { relative } from 'node:path';
import { visible } from '../app/tasks.ts';

/** A project is executed by its name; everything else is run by its file. */
export function runWords(directory: string, path: string): string {
  const file = visible(relative(directory, path));
  const project = /^\.artefacts\/([^/]+)\/tasks\.json$/.exec(file)?.[1];
  if (project !== undefined) return `ralph execute ${project}`;
  return `ralph run ${/[^\w./+-]/.test(file) ? JSON.stringify(file) : file}`;
}
