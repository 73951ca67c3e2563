// Seed 002's execution as data: tasks from .artefacts/NAME/tasks.json, claims by line or by status, three files as views.
import { lostTasks } from '../../documents/taken-out.ts';
import { projectTasks } from '../../documents/formats/tasks.ts';
import { executePrompt } from './project.ts';
import { executeTemplate } from './templates.ts';
import { ProjectView } from './views.ts';
import type { Mode } from '../mode.ts';

export const projectMode: Mode = {
  name: 'project',
  formats: [projectTasks],
  damage: lostTasks,
  instructions: { name: '.ralph/prompts/execute.md', within: 'directory', text: executeTemplate, isWritten: false },
  prompt: executePrompt,
  view: place => new ProjectView(place),
};
