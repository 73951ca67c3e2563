// What the front matter of a prompt may ask of the loop: a promise to wait for and a number of iterations.
import type { Wishes } from '../document.ts';
import { type FrontMatter, valueProblem } from '../frontmatter.ts';
import type { ProblemList } from '../problems.ts';

const iterationsHighest = 1_000_000;

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= iterationsHighest;
}

export function readWishes(matter: FrontMatter, problems: ProblemList): Wishes | undefined {
  const { completion_promise: promise, max_iterations: iterations } = matter.values;
  const wishes: { promise?: string; iterationsMax?: number | null } = {};
  if (typeof promise === 'string' && promise.trim() !== '') wishes.promise = promise.trim();
  else if (promise !== undefined && promise !== null && promise !== '') {
    valueProblem(problems, matter, 'completion_promise', 'text', 'Write it in double quotes.');
  }
  if (isCount(iterations)) wishes.iterationsMax = iterations === 0 ? null : iterations;
  else if (iterations !== undefined && iterations !== null) {
    const fix = 'Write a number, or 0 for no limit.';
    valueProblem(problems, matter, 'max_iterations', 'a whole number up to 1,000,000', fix);
  }
  return Object.keys(wishes).length === 0 ? undefined : wishes;
}
