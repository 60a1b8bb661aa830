import { commandPaths, type CompletedValue, type CompletionNode } from './completion-nodes.ts'
import { quoteText } from './quote.ts'

/** Returns the completion script of bash. It uses nothing of the package bash-completion. */
export function bashScript(nodes: readonly CompletionNode[]): string {
  return `# Completion of facegate for bash: source <(facegate completion bash)
_facegate_add() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$@")
}

_facegate_files() {
  compopt -o filenames 2>/dev/null
  _facegate_add "$1" -- "$2"
}

# Completes the part after the last comma.
_facegate_list() {
  local before=""
  if [[ "$2" == *,* ]]; then before="\${2%,*},"; fi
  compopt -o nospace 2>/dev/null
  _facegate_add -P "$before" -W "$1" -- "\${2##*,}"
}

_facegate() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at="" words="" i
  # bash divides --option=value at the equals sign.
  if [[ "$cur" == "=" ]]; then cur=""
  elif [[ "$prev" == "=" ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${commandPaths(nodes).map(quoteText).join('|')}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
      *) break ;;
    esac
  done
  case "$at $prev" in
${nodes.flatMap(optionCases).join('\n')}
  esac
  if [[ "$cur" != -* ]]; then
    case "$at" in
${nodes.flatMap(argumentCases).join('\n')}
    esac
  else
    case "$at" in
${nodes.map(({ path, options }) => `      ${quoteText(path)}) words=${quoteText(options.map(({ name }) => `--${name}`).join(' '))} ;;`).join('\n')}
    esac
  fi
  _facegate_add -W "$words" -- "$cur"
}

complete -F _facegate facegate`
}

function optionCases({ path, options }: CompletionNode): string[] {
  return options.flatMap(({ name, value }) =>
    value ? [`    ${quoteText(`${path} --${name}`)}) ${valueCommand(value)}return ;;`] : [],
  )
}

/** Returns the completion of what is not an option: commands, or the first argument. */
function argumentCases({ path, commands, argument }: CompletionNode): string[] {
  const names = commands.map(({ name }) => name).join(' ')
  if (names !== '') return [`      ${quoteText(path)}) words=${quoteText(names)} ;;`]
  return argument ? [`      ${quoteText(path)}) ${valueCommand(argument)}return ;;`] : []
}

function valueCommand({ choices, isList, completes }: CompletedValue): string {
  if (completes !== undefined)
    return `_facegate_files ${completes === 'file' ? '-f' : '-d'} "$cur"; `
  if (choices.length === 0) return ''
  const words = quoteText(choices.join(' '))
  return isList ? `_facegate_list ${words} "$cur"; ` : `_facegate_add -W ${words} -- "$cur"; `
}
