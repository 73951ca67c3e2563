// Task lists that people already have, worked through as a PRD is; apart from it, because reading YAML is slow to load.
import { checklist } from '../formats/checklist.ts';
import { sectionedPlan } from '../formats/sectioned-plan.ts';
import { yamlTasks } from '../formats/yaml-tasks.ts';
import { prdInstructions } from '../prompts/prd.ts';
import type { Mode } from './mode.ts';
import { prdMode } from './prd.ts';

export const listMode: Mode = {
  ...prdMode,
  formats: [yamlTasks, sectionedPlan, checklist],
  // They may lie anywhere: no PROMPT.md is left beside them.
  instructions: { name: 'PROMPT.md', within: 'document', text: prdInstructions, isWritten: false },
};
