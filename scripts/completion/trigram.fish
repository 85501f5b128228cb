# Completes command lines of trigram in Fish. The program itself answers (trigram --complete).
function __trigram_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c trigram -f -a '(__trigram_complete)'
