// Proves that dependencies are read without recursion: cycles are found, orders are stable, depth costs nothing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Dependent, findCycle, topologicalOrder } from '../../src/documents/task-checks.ts';

const task = (id: string, ...dependsOn: string[]): Dependent => ({ id, dependsOn });

describe('a cycle', () => {
  it('is not found where every task can be reached in order', () => {
    expect(findCycle([task('c', 'a', 'b'), task('b', 'a'), task('a')])).toBeUndefined();
  });

  it('of two is told in the order of waiting', () => {
    expect(findCycle([task('x'), task('a', 'b'), task('b', 'x', 'a')])).toEqual(['a', 'b']);
  });

  it('of one is a task that waits for itself', () => {
    expect(findCycle([task('a', 'a')])).toEqual(['a']);
  });

  it('leaves out the path that led to it', () => {
    expect(findCycle([task('start', 'a'), task('a', 'b'), task('b', 'a')])).toEqual(['a', 'b']);
  });

  it('of a thousand tasks is told whole', () => {
    const ring = Array.from({ length: 1000 }, (_, n) => task(`t${n}`, `t${(n + 1) % 1000}`));
    expect(findCycle(ring)).toHaveLength(1000);
  });

  it('does not arise from ids that no task has', () => {
    expect(findCycle([task('a', 'ghost'), task('b', 'a')])).toBeUndefined();
  });
});

describe('the topological order', () => {
  it('keeps the document order where the dependencies allow it', () => {
    expect(topologicalOrder([task('a'), task('b'), task('c')])).toEqual(['a', 'b', 'c']);
  });

  it('moves only the tasks that must wait', () => {
    expect(topologicalOrder([task('late', 'd'), task('b'), task('c', 'b'), task('d')])).toEqual([
      'b',
      'c',
      'd',
      'late',
    ]);
  });

  it('leaves out a cycle and everything behind it', () => {
    expect(topologicalOrder([task('a', 'b'), task('b', 'a'), task('behind', 'a'), task('free')])).toEqual(['free']);
  });

  it('counts a dependency that is named twice once', () => {
    expect(topologicalOrder([task('b', 'a', 'a'), task('a')])).toEqual(['a', 'b']);
  });
});

it('given 100,000 tasks of which 50,000 form one chain, then both answers come without a stack overflow', () => {
  const tasks = Array.from({ length: 100_000 }, (_, n) => (n < 50_000 ? task(`t${n}`, `t${n + 1}`) : task(`t${n}`)));
  expect(findCycle(tasks)).toBeUndefined();
  const order = topologicalOrder(tasks);
  expect(order).toHaveLength(100_000);
  expect(order[0]).toBe('t50000');
  expect(order.at(-1)).toBe('t99999');
});

const graphs = fc
  .integer({ min: 1, max: 12 })
  .chain(size =>
    fc.array(fc.uniqueArray(fc.integer({ min: 0, max: size - 1 }), { maxLength: 3 }), {
      minLength: size,
      maxLength: size,
    }),
  )
  .map(rows => rows.map((targets, row) => task(`t${row}`, ...targets.map(target => `t${target}`))));

describe('for any graph', () => {
  it('a found cycle really is one, and no cycle means that every task is ordered', () => {
    fc.assert(
      fc.property(graphs, tasks => {
        const cycle = findCycle(tasks);
        const order = topologicalOrder(tasks);
        if (cycle === undefined) {
          expect(order).toHaveLength(tasks.length);
          return;
        }
        expect(order.length).toBeLessThan(tasks.length);
        for (const [step, id] of cycle.entries()) {
          expect(tasks.find(one => one.id === id)!.dependsOn).toContain(cycle[(step + 1) % cycle.length]);
        }
      }),
    );
  });

  it('the order is what one gets by always taking the first task that is ready', () => {
    fc.assert(
      fc.property(graphs, tasks => {
        const expected: string[] = [];
        for (;;) {
          const ready = tasks.find(
            one => !expected.includes(one.id) && one.dependsOn.every(id => expected.includes(id)),
          );
          if (!ready) break;
          expected.push(ready.id);
        }
        expect(topologicalOrder(tasks)).toEqual(expected);
      }),
    );
  });
});
