// Seed 001, part 3, as data: reviewers find, fixers mend, and a new round looks again.
import { review } from '../formats/review.ts';
import { reviewPrompt } from '../prompts/review.ts';
import { ReviewStateView } from '../views/review-state.ts';
import type { Mode } from './mode.ts';

export const reviewMode: Mode = {
  name: 'review',
  formats: [review],
  prompt: reviewPrompt,
  view: place => new ReviewStateView(place),
};
