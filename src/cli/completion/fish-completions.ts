import type { CompletedOption, CompletedValue, CompletionNode } from './completion-nodes.ts'

/** Returns the statements that complete the commands, options and argument of a node. */
export function fishCompletions({ path, commands, options, argument }: CompletionNode): string[] {
  const condition = `complete -c facegate -n ${quoteFish(`__facegate_is '${path}'`)}`
  return [
    ...commands.map(
      ({ name, summary }) => `${condition} -a ${quoteFish(name)} -d ${quoteFish(summary)}`,
    ),
    ...options.map((option) => `${condition} ${optionParts(option)}`),
    ...(argument ? [`${condition}${valueParts(argument)}`] : []),
  ]
}

function optionParts({ name, summary, value }: CompletedOption): string {
  const short = name === 'help' ? ' -s h' : ''
  const takesValue = value === undefined ? '' : ` -r${valueParts(value)}`
  return `-l ${name}${short} -d ${quoteFish(summary)}${takesValue}`
}

function valueParts({ choices, isList, completes }: CompletedValue): string {
  if (completes === 'file') return ' -F'
  if (completes === 'folder') return ` -a ${quoteFish('(__fish_complete_directories)')}`
  if (choices.length === 0) return ' -f'
  const words = choices.map((choice) => (choice === '*' ? String.raw`\*` : choice)).join(' ')
  if (!isList) return ` -f -a ${quoteFish(words)}`
  return ` -f -a ${quoteFish(`(__fish_complete_list , 'string split " " -- "${choices.join(' ')}"')`)}`
}

/** Returns a text in single quotes for fish. */
export function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`
}
