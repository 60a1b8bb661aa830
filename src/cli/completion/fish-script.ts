import {
  commandPaths,
  type CompletedOption,
  type CompletedValue,
  type CompletionNode,
} from './completion-nodes.ts'
import { quoteFish } from './quote.ts'

/** Returns the completion script of fish. */
export function fishScript(nodes: readonly CompletionNode[]): string {
  return `# Completion of facegate for fish: facegate completion fish | source
function __facegate_path
    set -l at ''
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        switch "$at $word"
            case ${commandPaths(nodes).map(quoteFish).join(' ')}
                set at (string trim -- "$at $word")
            case '*'
                break
        end
    end
    echo $at
end

function __facegate_is
    set -l at (__facegate_path)
    test "$at" = "$argv[1]"
end

complete -c facegate -f
${nodes.flatMap(completionLines).join('\n')}`
}

function completionLines({ path, commands, options, argument }: CompletionNode): string[] {
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
