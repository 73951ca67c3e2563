// Patterns of paths as shells have them, so that what fits is protected and known without starting one.

export const isPattern = (path: string): boolean => /[*?[{]/.test(path);

/** Whether a path is one of those that a pattern stands for: `tests/*.sh`, `check[12].sh`, `{a,b}.sh`. */
export function fits(path: string, pattern: string): boolean {
  const source = pattern.replace(/\*+|\?|\[[^\]/]*\]|\{[^{}/]*\}|[^*?[{]+|[[{]/g, part => {
    if (part.startsWith('*')) return '[^/]*';
    if (part === '?') return '[^/]';
    if (part.length > 1 && part.startsWith('[')) return part.replace(/^\[!/, '[^').replaceAll('\\', '');
    if (part.length > 1 && part.startsWith('{')) return `(?:${part.slice(1, -1).split(',').map(escaped).join('|')})`;
    return escaped(part);
  });
  try {
    return new RegExp(`^${source}$`, 's').test(path) && (!path.startsWith('.') || pattern.startsWith('.'));
  } catch {
    return false; // no range of letters
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
