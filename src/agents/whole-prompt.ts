// One text of what belongs into the system prompt and the prompt, for whoever has no other way to be told the former.
import type { Assignment } from './performer.ts';

export function wholePrompt({ system, prompt }: Pick<Assignment, 'system' | 'prompt'>): string {
  return system === undefined || system === '' ? prompt : `${system}\n\n${prompt}`;
}
