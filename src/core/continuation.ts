// The handoff text: what the next fresh context needs from the one before it, in the seed's shape.
import { quoted } from './context.ts';
import type { State } from './state.ts';
import { takeCharacters } from './text.ts';

const list = (title: string, items: readonly string[]): readonly string[] =>
  items.length === 0 ? [] : [`### ${title}`, '', ...items.map(item => quoted(`- ${takeCharacters(item, 300)}`)), ''];

/** Empty before the first iteration has ended. */
export function continuationPrompt(state: State): string {
  const last = state.lastIteration;
  if (last === undefined) return '';
  const report = state.report;
  const lines = [
    `## Handoff from iteration ${last.iteration}`,
    '',
    `**Phase:** ${report?.phase ?? 'implementing'}  `,
    `**Last agent:** ${last.performer} on ${last.task}  `,
    ...(state.lastCheckpoint === '' ? [] : [`**Checkpoint:** ${state.lastCheckpoint}  `]),
    ...(state.handoff === undefined ? [] : [`**Why it ended:** ${state.handoff}  `]),
    '',
    ...list('Completed (by its own account)', report?.completed ?? []),
    ...list('Pending', report?.pending ?? []),
    ...list(
      'Blocked',
      (report?.blocked ?? []).map(one => `${one.item}: ${one.reason}`),
    ),
    ...list('Key decisions', report?.decisions ?? []),
  ];
  return lines.join('\n').trimEnd();
}
