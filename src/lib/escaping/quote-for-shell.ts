/** Returns a text as one word of a shell, in single quotes where they are needed. */
export function quoteForShell(text: string): string {
  return /^[\w./:,@%+=-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
