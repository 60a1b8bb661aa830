# Completion of facegate for bash: source <(facegate completion bash)
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
  if [[ "$2" == *,* ]]; then before="${2%,*},"; fi
  compopt -o nospace 2>/dev/null
  _facegate_add -P "$before" -W "$1" -- "${2##*,}"
}

_facegate() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" at="" words="" i
  # bash divides --option=value at the equals sign.
  if [[ "$cur" == "=" ]]; then cur=""
  elif [[ "$prev" == "=" ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"
  fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${COMP_WORDS[i]}" in
      @PATHS@) at="${at:+$at }${COMP_WORDS[i]}" ;;
      *) break ;;
    esac
  done
  case "$at $prev" in
@OPTION_VALUES@
  esac
  if [[ "$cur" != -* ]]; then
    case "$at" in
@ARGUMENTS@
    esac
  else
    case "$at" in
@OPTIONS@
    esac
  fi
  _facegate_add -W "$words" -- "$cur"
}

complete -F _facegate facegate
