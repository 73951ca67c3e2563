// Pattern that is compiled when it is first asked: long ones take a part of a millisecond each, and a start asks few.

export type LatePattern = Pick<RegExp, 'test' | 'exec'>;

export function latePattern(source: () => string, flags: string): LatePattern {
  let made: RegExp | undefined;
  const pattern = (): RegExp => {
    made ??= new RegExp(source(), flags);
    return made;
  };
  return { test: text => pattern().test(text), exec: text => pattern().exec(text) };
}
