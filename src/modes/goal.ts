// Mode goal (seed 000): one goal, pursued through six phases; its items are those that the agent reports.
import { goalFormat } from '../formats/prompt.ts';
import { goalPrompt } from '../prompts/goal.ts';
import type { Mode } from './mode.ts';

export const goalMode: Mode = {
  name: 'goal',
  formats: [goalFormat],
  prompt: goalPrompt,
};
