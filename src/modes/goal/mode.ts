// Mode goal (seed 000): one goal, pursued through six phases; its items are those that the agent reports.
import { editedTask } from '../../documents/edited-task.ts';
import { goal } from './goal.ts';
import { goalPrompt } from './prompts-goal-part.ts';
import type { Mode } from '../mode.ts';

export const goalMode: Mode = {
  name: 'goal',
  formats: [goal],
  damage: editedTask,
  prompt: goalPrompt,
};
