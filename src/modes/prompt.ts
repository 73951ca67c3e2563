// Mode prompt (seed 001, parts 1 and 2): a PROMPT.md is given to fresh contexts until its task is complete.
import { editedTask } from '../formats/edited-task.ts';
import { prompt } from '../formats/prompt.ts';
import { ralphLoop } from '../formats/ralph-loop.ts';
import { documentPrompt } from '../prompts/prompt.ts';
import { AgentFolderView } from '../views/agent-folder.ts';
import type { Mode } from './mode.ts';

export const promptMode: Mode = {
  name: 'prompt',
  promptsFolder: '.agent/prompts',
  formats: [ralphLoop, prompt],
  damage: editedTask,
  prompt: documentPrompt,
  view: ({ directory }) => new AgentFolderView(directory),
};
