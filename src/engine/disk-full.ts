// The question that a full disk raises: recorded in the room that the reserve file gives back (F38).
import type { Question } from '../core/input.ts';

export function diskFull(detail: string): Question {
  return {
    kind: 'storage',
    summary: 'The disk is full',
    context: detail,
    options: ['There is room again: go on'],
    question: 'Make room on the disk, then run the same command again.',
  };
}
