// A pure function of a text that remembers its last answers: the same few texts are compared again and again.

/** All are forgotten together when there are more, so that nothing grows. */
const answersMax = 128;

/** `flag`: a second question about the same text. */
export function remembered<Value>(
  find: (text: string, flag: boolean) => Value,
): (text: string, flag?: boolean) => Value {
  const known = [new Map<string, Value>(), new Map<string, Value>()] as const;
  return (text, flag = false) => {
    const answers = known[flag ? 1 : 0];
    const before = answers.get(text);
    if (before !== undefined) return before;
    const found = find(text, flag);
    if (answers.size >= answersMax) answers.clear();
    answers.set(text, found);
    return found;
  };
}
