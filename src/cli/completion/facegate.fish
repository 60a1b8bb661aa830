# Completion of facegate for fish: facegate completion fish | source
function __facegate_path
    set -l at ''
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        switch "$at $word"
            case @PATHS@
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
@COMPLETIONS@
