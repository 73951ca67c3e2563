// Seed 003 as data: stories from PRD.json, instructions from PROMPT.md, claims by line and promise.
import { prd } from '../../documents/formats/prd.ts';
import { lostTasks } from '../../documents/taken-out.ts';
import { iterationPrompt } from '../iteration-prompt.ts';
import { prdInstructions } from './prd.ts';
import type { Mode } from '../mode.ts';

export const prdMode: Mode = {
  name: 'prd',
  formats: [prd],
  damage: lostTasks,
  instructions: { name: 'PROMPT.md', within: 'document', text: prdInstructions, isWritten: true },
  prompt: iterationPrompt,
};
