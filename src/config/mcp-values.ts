// Reads the texts of a server's entry and puts environment variables in where the file names them, and only there.

export type Variables = Readonly<Record<string, string | undefined>>;

/** Each complains about what is wrong and gives something harmless back. */
export interface Texts {
  one(value: unknown, key: string): string;
  list(value: unknown, key: string): readonly string[];
  table(value: unknown, key: string, names: RegExp): Readonly<Record<string, string>>;
}

const charsMax = 10_000;
const countMax = 1_000;
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** `${NAME}` is the variable's value, `${NAME:-words}` has words for when it is not set. Everything else stays as it is. */
export function expanded(environment: Variables, complain: (message: string) => void): Texts {
  const missing = new Set<string>();

  function fill(text: string): string {
    return text.replace(reference, (_, name: string, otherwise: string | undefined) => {
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (value !== undefined || otherwise !== undefined) return value ?? otherwise ?? '';
      if (!missing.has(name)) complain(`the variable ${name.slice(0, 100)} is not set; set it or remove it here`);
      missing.add(name);
      return '';
    });
  }

  function text(value: unknown, where: string): string {
    if (typeof value !== 'string') complain(`${where} must be text`);
    else if (value.length > charsMax) complain(`${where} is longer than ${charsMax} characters`);
    else {
      const filled = fill(value);
      if (!/[\p{Cc}]/u.test(filled)) return filled;
      complain(`${where} holds a line break or control character`);
    }
    return '';
  }

  return {
    one(value, key) {
      if (value === undefined) return ''; // that it is missing was said before
      if (typeof value === 'string' && value.trim() === '') complain(`"${key}" is empty`);
      return text(value, `"${key}"`);
    },
    list(value, key) {
      if (value === undefined) return [];
      if (Array.isArray(value) && value.length <= countMax)
        return value.map((each, index) => text(each, `"${key}[${index}]"`));
      complain(`"${key}" must be a list of texts`);
      return [];
    },
    table(value, key, names) {
      if (value === undefined) return {};
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        complain(`"${key}" must be an object of names and texts`);
        return {};
      }
      const entries = Object.entries(value).filter(([name]) => {
        if (!names.test(name)) complain(`"${key}" holds a name that cannot be one`);
        return names.test(name);
      });
      return Object.fromEntries(entries.map(([name, each]) => [name, text(each, `"${key}.${name.slice(0, 100)}"`)]));
    },
  };
}
