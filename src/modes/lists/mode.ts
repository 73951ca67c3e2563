// Task lists that people already have, worked through as a PRD is; apart from it, because reading YAML is slow to load.
import { checklist } from '../../documents/formats/checklist.ts';
import { sectionedPlan } from '../../documents/formats/sectioned-plan.ts';
import { yamlTasks } from '../../documents/formats/yaml-tasks.ts';
import type { Mode } from '../mode.ts';
import { prdInstructions, prdMode } from '../prd/mode.ts';

export const listMode: Mode = {
  ...prdMode,
  formats: [yamlTasks, sectionedPlan, checklist],
  // They may lie anywhere: no PROMPT.md is left beside them.
  instructions: { name: 'PROMPT.md', within: 'document', text: prdInstructions, isWritten: false },
};

/** People name lists so; of other Markdown files the boxes may be no work for an agent. */
export const isListName = (name: string): boolean =>
  /(?:^|[^a-z])(?:to-?dos?|tasks?|plans?|fix(?:es)?|check-?lists?|backlogs?|lists?|steps?|stories|issues|bugs|roadmap|prd)(?:[^a-z]|$)/i.test(
    name,
  );
