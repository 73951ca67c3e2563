// Seed 002's execution as data: tasks from .artefacts/NAME/tasks.json, claims by line or by status, three files as views.
import { lostTasks } from '../formats/taken-out.ts';
import { projectTasks } from '../formats/tasks.ts';
import { executePrompt } from '../prompts/project.ts';
import { executeTemplate } from '../prompts/project-templates.ts';
import { ProjectView } from '../views/project.ts';
import type { Mode } from './mode.ts';

export const projectMode: Mode = {
  name: 'project',
  formats: [projectTasks],
  damage: lostTasks,
  instructions: { name: '.ralph/prompts/execute.md', within: 'directory', text: executeTemplate, isWritten: false },
  prompt: executePrompt,
  view: place => new ProjectView(place),
};
