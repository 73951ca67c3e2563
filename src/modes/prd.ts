// Seed 003 as data: stories from PRD.json, instructions from PROMPT.md, claims by line and promise.
import { prd } from '../formats/prd.ts';
import { lostTasks } from '../formats/taken-out.ts';
import { iterationPrompt } from '../prompts/iteration.ts';
import { prdInstructions } from '../prompts/prd.ts';
import type { Mode } from './mode.ts';

export const prdMode: Mode = {
  name: 'prd',
  formats: [prd],
  damage: lostTasks,
  instructions: { name: 'PROMPT.md', within: 'document', text: prdInstructions, isWritten: true },
  prompt: iterationPrompt,
};
