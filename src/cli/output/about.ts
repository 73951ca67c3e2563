// Subject of a loop for whoever looks: its file where it lies now, or its goal.

import { existsSync } from 'node:fs';
import { hasUserDocument, type State } from '../../core/state.ts';
import { placesOfPlan } from '../../text/step-path.ts';
import { visible } from '../../text/text.ts';

/** The vault puts a plan away when it is done. */
export function aboutWords(state: State, document: string): string {
  if (!hasUserDocument(state)) return visible(state.loop.goal);
  if (!state.settings.policy.vault || state.control.ended === undefined) return document;
  return placesOfPlan(document, state.loop.directory).find(path => existsSync(path)) ?? document;
}
