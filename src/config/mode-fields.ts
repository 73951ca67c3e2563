// The settings that only some modes know: a part of the one table, which would be too long with them.
import type { Field } from './kinds.ts';

export const modeFields = {
  rounds: {
    kind: 'whole',
    most: 100,
    modes: ['review', 'project'],
    description: 'Rounds of a review or an interview.',
    example: '3',
  },
  targetConfidence: {
    modes: ['review'],
    kind: 'whole',
    most: 100,
    description: 'Review: how sure every reviewer must be, in percent.',
    example: '95',
  },
  reviewer: {
    modes: ['review'],
    kind: 'roles',
    description:
      'Review: who looks at the document, by role; .ralph/prompts/review-ROLE.md says what a role looks for.',
    example: 'adversarial',
  },
  section: {
    kind: 'line',
    most: 200,
    modes: ['review'],
    description: 'Review: only this section of the document.',
    example: 'Risks',
  },
  workflow: {
    modes: ['review'],
    kind: 'line',
    most: 200,
    description: 'Review: the workflow that the document belongs to, for prompts and the state file.',
    example: 'create-prd',
  },
  haltOnMaxAttempts: {
    modes: ['prd', 'project', 'plan', 'review'],
    kind: 'truth',
    description: 'A task that has used up its attempts ends the loop, instead of being set aside.',
    example: 'true',
  },
  checkpointInterval: {
    modes: ['prompt'],
    kind: 'whole',
    most: 1_000_000,
    description: 'Prompt: after how many iterations the work so far is committed although it is not done.',
    example: '10',
  },
  retries: {
    modes: ['plan'],
    kind: 'whole',
    most: 100,
    description: 'Plan: how often a step that failed is tried again, after 5, 10, 20 s.',
    example: '3',
    formerly: [{ name: 'PLAN_RETRY_ATTEMPTS', mode: 'plan' }],
  },
  onApproval: {
    modes: ['plan'],
    kind: 'choice',
    choices: ['fail', 'skip', 'wait'],
    description: 'Plan: what to do when a person must approve it first. Nothing ever approves itself.',
    example: 'wait',
  },
  mcpConfig: {
    modes: ['plan'],
    kind: 'path',
    userOnly: true,
    description: 'Plan: the file that names the MCP servers; unless told, mcp.json in the user configuration.',
    example: 'mcp.json',
  },
} as const satisfies Readonly<Record<string, Field>>;
