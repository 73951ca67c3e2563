// Mode prompt (seed 001, parts 1 and 2): a PROMPT.md is given to fresh contexts until its task is complete.
import { editedTask } from '../../documents/edited-task.ts';
import { prompt } from '../../documents/formats/prompt.ts';
import { ralphLoop } from '../../documents/formats/ralph-loop.ts';
import { documentPrompt } from './prompt.ts';
import { AgentFolderView } from './agent-folder.ts';
import type { Mode } from '../mode.ts';

export const promptMode: Mode = {
  name: 'prompt',
  promptsFolder: '.agent/prompts',
  formats: [ralphLoop, prompt],
  damage: editedTask,
  prompt: documentPrompt,
  view: ({ directory }) => new AgentFolderView(directory),
};
