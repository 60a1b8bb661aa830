/** Returns a text in single quotes for bash and zsh. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Returns a text in single quotes for fish. */
export function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`
}
