// How a review grows: reviewers look, every issue becomes a task, and a new round looks again until nothing is left to say.
import { quoted } from './memory.ts';
import type { ReviewSettings } from './settings.ts';
import type { MergedIssue } from './review.ts';
import { severityRank } from '../messages/review-merge.ts';
import { isNextRoundDue, type Reviewing, reviewStanding } from './review-standing.ts';
import type { TaskSpec } from './task.ts';
import { takeCharacters } from '../text/text.ts';

const titleCharsMax = 120;

const open = { dependsOn: [], done: false, skipped: false } as const;

function findTasks({ reviewers, roundsMax }: ReviewSettings, round: number): readonly TaskSpec[] {
  return [...new Set(reviewers)].map(role => ({
    ...open,
    id: `R${round}-${role}`,
    title: `Review as ${role}, round ${round} of ${roundsMax}`,
    description: 'Look at the document, change nothing, and say what is wrong with it.',
    criteria: ['The last message holds one <review> block by the schema'],
    reads: true,
    closing: 'findings',
    round,
    role,
  }));
}

/** What the reviewers said is quoted: whoever mends it reads it as data. */
function fixTask(id: string, { issue, severity, place, confidence, also }: MergedIssue, round: number): TaskSpec {
  const first = (issue.split('\n')[0] ?? '').trim();
  const title = takeCharacters(first, titleCharsMax);
  const others = also.length === 0 ? [] : ['', 'Other reviewers put it so:', ...also.map(quoted)];
  return {
    ...open,
    id,
    title: title.length < first.length ? `${title}…` : title,
    description: [
      `Severity: ${severity}; a reviewer of round ${round} is ${confidence} % sure that it is one.`,
      '',
      'The place:',
      quoted(place === '' ? '(the whole document)' : place),
      '',
      'The issue:',
      quoted(issue),
      ...others,
    ].join('\n'),
    criteria: ['The issue does not hold any more', 'The rest of the document says what it said before'],
    round,
    role: 'fixer',
  };
}

/** What the state after a decision needs next: a round of reviewers, tasks for what they found, or nothing. */
export function growReview(state: Reviewing): readonly TaskSpec[] {
  const { review } = state.settings;
  if (review === null || !state.loaded) return [];
  const standing = reviewStanding(state);
  if (standing.round === 0) return findTasks(review, 1);
  if (!standing.isLookedAt) return [];
  if (standing.waiting.length > 0) {
    return [...standing.waiting]
      .sort((a, b) => severityRank(a.issue) - severityRank(b.issue))
      .map(({ id, issue }) => fixTask(id, issue, standing.round));
  }
  return isNextRoundDue(standing, review) ? findTasks(review, standing.round + 1) : [];
}
