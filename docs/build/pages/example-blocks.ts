/** One call in three languages. */
export type ExampleTexts = {
  readonly curl: string
  readonly typescript: string
  readonly python: string
}

/**
 * Returns the call as code blocks, which the site shows as tabs.
 *
 * @param skip why the test of the code blocks does not run them.
 */
export function exampleBlocks({ curl, typescript, python }: ExampleTexts, skip: string): string {
  const block = (language: string, tab: string, text: string): string =>
    `\`\`\`${language} tab="${tab}" skip="${skip}"\n${text}\n\`\`\``
  return [
    block('sh', 'curl', curl),
    block('ts', 'TypeScript', typescript),
    block('python', 'Python', python),
  ].join('\n\n')
}
