# Read by bash in front of a script (BASH_ENV): a program that is not there is recorded, with its words and its
# environment, writes $SAYS, and succeeds. A shell that it would start is started.
command_not_found_handle() {
    local number=0 word before="" IFS=$' \t\n'
    {
        printf '%s\0' "$@"
        printf '\1ENV\0'
        for word in $(compgen -e); do
            case $word in CUDA_* | NCCL_* | NVTE_* | PYTORCH_*) printf '%s\0' "$word=${!word}" ;; esac
        done
    } > "$RECORD/$EPOCHREALTIME.$BASHPID.$RANDOM"
    for word in "$@"; do
        number=$((number + 1))
        case $before:$1 in -e:docker | -e:podman | --env:docker | --env:podman) export "$word" ;; esac
        before=$word
        case ${word##*/} in bash | sh) "/bin/bash" "${@:number + 1}"; return 0 ;; esac
    done
    case $1 in sbatch | salloc)
        word=${*: -1}
        if [ -f "$word" ]; then /bin/bash "$word"; elif [ $# -eq 1 ] || [[ $word == -* ]]; then /bin/bash; fi ;;
    esac
    printf %s "$SAYS"
    return "${STATUS:-0}"
}
