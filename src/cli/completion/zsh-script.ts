import { commandPaths, type CompletedValue, type CompletionNode } from './completion-nodes.ts'
import { quoteText } from './quote.ts'

/** Returns the completion script of zsh, which can be sourced or put in a folder of fpath. */
export function zshScript(nodes: readonly CompletionNode[]): string {
  return `#compdef facegate
# Completion of facegate for zsh: source <(facegate completion zsh)
_facegate() {
  local at="" i
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      ${commandPaths(nodes).map(quoteText).join('|')}) at="\${at:+$at }\${words[i]}" ;;
      *) break ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${nodes.flatMap(optionCases).join('\n')}
  esac
  if [[ "\${words[CURRENT]}" != -* ]]; then
    case "$at" in
${nodes.flatMap(argumentCases).join('\n')}
    esac
  else
    case "$at" in
${nodes.map(optionList).join('\n')}
    esac
  fi
}

if [[ "\${funcstack[1]}" == _facegate ]]; then
  _facegate "$@"
else
  compdef _facegate facegate
fi`
}

function optionCases({ path, options }: CompletionNode): string[] {
  return options.flatMap(({ name, value }) =>
    value ? [`    ${quoteText(`${path} --${name}`)}) ${valueCommand(value)}return ;;`] : [],
  )
}

function argumentCases({ path, commands, argument }: CompletionNode): string[] {
  if (commands.length > 0) {
    const items = commands.map(({ name, summary }) => quoteText(`${name}:${summary}`)).join(' ')
    return [`      ${quoteText(path)}) items=(${items}); _describe command items ;;`]
  }
  return argument ? [`      ${quoteText(path)}) ${valueCommand(argument)}return ;;`] : []
}

function optionList({ path, options }: CompletionNode): string {
  const items = options.map(({ name, summary }) => quoteText(`--${name}:${summary}`)).join(' ')
  return `      ${quoteText(path)}) items=(${items}); _describe -o option items ;;`
}

function valueCommand({ choices, isList, completes }: CompletedValue): string {
  if (completes !== undefined) return completes === 'file' ? '_files; ' : '_files -/; '
  if (choices.length === 0) return ''
  const words = choices.map(quoteText).join(' ')
  return isList ? `compset -P '*,'; compadd -S '' -- ${words}; ` : `compadd -- ${words}; `
}
