#compdef facegate
# Completion of facegate for zsh: source <(facegate completion zsh)
_facegate() {
  local at="" i
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    case "$at ${words[i]}" in
      @PATHS@) at="${at:+$at }${words[i]}" ;;
      *) break ;;
    esac
  done
  case "$at ${words[CURRENT-1]}" in
@OPTION_VALUES@
  esac
  if [[ "${words[CURRENT]}" != -* ]]; then
    case "$at" in
@ARGUMENTS@
    esac
  else
    case "$at" in
@OPTIONS@
    esac
  fi
}

if [[ "${funcstack[1]}" == _facegate ]]; then
  _facegate "$@"
else
  compdef _facegate facegate
fi
