// Seed 001, part 3, as data: reviewers find, fixers mend, and a new round looks again.
import { review } from './review.ts';
import { reviewPrompt } from './prompt.ts';
import { ReviewStateView } from './state-view.ts';
import type { Mode } from '../mode.ts';

export const reviewMode: Mode = {
  name: 'review',
  formats: [review],
  prompt: reviewPrompt,
  view: place => new ReviewStateView(place),
};
