#!/bin/sh
# What `gitops-reverser gate` does, for plugin containers without Node: it needs a POSIX shell, and curl or GNU wget.
#
#   gate.sh [--mode advise|strict] [--deadline 40s] [--address HOST:PORT|https://HOST:PORT|unix:/PATH]
#           [--token-file FILE] [--ca-file FILE] [--namespace NAME] [--checkout-dir DIR] -- COMMAND...
#
# It asks the sidecar to publish every live edit, then becomes COMMAND. Standard output is the command's alone: Argo CD takes an
# empty one with exit code 0 for "no resources" and prunes everything.
# Exit codes: those of COMMAND; in strict mode 65 superseded, 66 closed, 69 no answer from the sidecar; 64 bad use.
set -u

# Prints the folder to render in, if it is not this one.
gate() {
  mode=${GITOPS_REVERSER_GATE_MODE:-advise}
  deadline=${GITOPS_REVERSER_GATE_DEADLINE:-40s}
  address=${GITOPS_REVERSER_GATE_ADDRESS:-127.0.0.1:9797}
  token_file=${GITOPS_REVERSER_GATE_TOKEN_FILE:-/var/run/gitops-reverser/gate/token}
  ca_file=${GITOPS_REVERSER_GATE_CA_FILE:-}
  namespace=${GITOPS_REVERSER_ARGOCD_NAMESPACE:-argocd}
  checkout_dir=${GITOPS_REVERSER_CHECKOUT_DIR:-}
  scratch=

  say() { printf 'gitops-reverser gate: %s\n' "$1" >&2; }
  bad_use() {
    say "$1"
    exit 64
  }
  # shellcheck disable=SC2329 # called by a trap
  clean_up() { [ -z "$scratch" ] || rm -rf "$scratch"; }
  trap clean_up EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM

  while [ $# -gt 0 ]; do
    case $1 in
      --)
        shift
        break
        ;;
      --mode | --deadline | --address | --token-file | --ca-file | --namespace | --checkout-dir)
        [ $# -ge 2 ] || bad_use "$1 needs a value"
        case $1 in
          --mode) mode=$2 ;;
          --deadline) deadline=$2 ;;
          --address) address=$2 ;;
          --token-file) token_file=$2 ;;
          --ca-file) ca_file=$2 ;;
          --namespace) namespace=$2 ;;
          --checkout-dir) checkout_dir=$2 ;;
        esac
        shift 2
        ;;
      -*) bad_use "there is no option $1" ;;
      *) break ;;
    esac
  done
  [ $# -gt 0 ] || bad_use 'no command is given; write gate.sh [options] -- COMMAND...'
  case $mode in advise | strict) ;; *) bad_use "--mode $mode is neither advise nor strict" ;; esac

  digits=${deadline%[sm]}
  case $digits in '' | *[!0-9]* | ????*) bad_use "--deadline $deadline is no duration from 1s to 60s" ;; esac
  case $deadline in
    *s) seconds=$digits ;;
    *m) seconds=$((digits * 60)) ;;
    *) bad_use "--deadline $deadline is no duration from 1s to 60s" ;;
  esac
  if [ "$seconds" -lt 1 ] || [ "$seconds" -gt 60 ]; then
    bad_use "--deadline $deadline is no duration from 1s to 60s"
  fi

  for variable in ARGOCD_APP_NAME ARGOCD_APP_REVISION ARGOCD_APP_SOURCE_REPO_URL; do
    eval "value=\${$variable:-}"
    # shellcheck disable=SC2154 # the line above sets it
    [ -n "$value" ] || bad_use "$variable is not set; this is for the generate command of an Argo CD plugin"
  done
  revision=$ARGOCD_APP_REVISION
  path=${ARGOCD_APP_SOURCE_PATH:-}
  # An Application outside Argo CD's own namespace comes as namespace_name.
  case $ARGOCD_APP_NAME in
    *_*)
      namespace=${ARGOCD_APP_NAME%%_*}
      name=${ARGOCD_APP_NAME#*_}
      ;;
    *) name=$ARGOCD_APP_NAME ;;
  esac

  for value in "$name" "$namespace" "$ARGOCD_APP_SOURCE_REPO_URL" "${ARGOCD_APP_SOURCE_TARGET_REVISION:-}" "$path"; do
    case $value in *[[:cntrl:]]*) bad_use 'a control character stands in a variable of Argo CD' ;; esac
  done
  # The text of a JSON string.
  quoted() { printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g'; }

  # The folder to render in: in the sidecar's checkout when it has this very commit, else none.
  answer() {
    if [ -n "$checkout_dir" ] && root=$(cd -P "$checkout_dir/commits/$revision" 2>/dev/null && pwd -P) &&
      folder=$(cd -P "$root/$path" 2>/dev/null && pwd -P); then
      case $folder/ in "$root"/*) printf '%s' "$folder" ;; esac
    fi
    exit 0
  }

  case $revision in
    *[!0-9a-f]*) is_commit=false ;;
    *) case ${#revision} in 40 | 64) is_commit=true ;; *) is_commit=false ;; esac ;;
  esac
  if [ "$is_commit" = false ]; then
    say "$revision is no commit, so no live edit can be written there"
    exit 0
  fi

  scratch=$(mktemp -d) || bad_use 'no temporary folder can be made'
  question=$(
    printf '{"applier":"argocd","application":{"namespace":"%s","name":"%s"},' "$(quoted "$namespace")" "$(quoted "$name")"
    printf '"repoURL":"%s","targetRevision":"%s",' \
      "$(quoted "$ARGOCD_APP_SOURCE_REPO_URL")" "$(quoted "${ARGOCD_APP_SOURCE_TARGET_REVISION:-}")"
    printf '"revision":"%s","path":"%s","phase":"render"' "$revision" "$(quoted "$path")"
  )

  # ask SECONDS: sets `status` (000 when there was no answer) and `problem`; the body is in $scratch/answer.
  ask() {
    status=000
    problem=
    : >"$scratch/answer"
    token=$(cat "$token_file" 2>/dev/null) || token=
    case $token in
      '' | *[!A-Za-z0-9._~+/=-]*)
        problem="the token file $token_file cannot be read, or holds no token"
        return
        ;;
    esac
    printf '%s,"deadlineMs":%s}' "$question" $(($1 * 1000 - 500)) >"$scratch/question"
    # The token goes through files: arguments can be read by everybody in the container.
    if command -v curl >/dev/null 2>&1; then
      printf 'header = "Authorization: Bearer %s"\n' "$token" >"$scratch/login"
      case $address in
        unix:*)
          socket=${address#unix:}
          set -- "$1" --unix-socket "$socket" http://gate/v1/gate
          ;;
        https://*) set -- "$1" ${ca_file:+--cacert "$ca_file"} "$address/v1/gate" ;;
        *) set -- "$1" "http://$address/v1/gate" ;;
      esac
      limit=$1
      shift
      status=$(curl -q --silent --show-error --noproxy '*' --config "$scratch/login" --max-time "$limit" \
        --header 'Content-Type: application/json' --data-binary "@$scratch/question" \
        --output "$scratch/answer" --write-out '%{http_code}' "$@" 2>"$scratch/errors") || status=000
    elif command -v wget >/dev/null 2>&1; then
      case $address in unix:*) bad_use 'wget knows no unix socket; let the gate listen on a port, or install curl' ;; esac
      wget --version 2>/dev/null | grep GNU >/dev/null ||
        bad_use 'this wget shows the token to everybody in the container; install curl or GNU wget'
      printf 'header = Authorization: Bearer %s\n' "$token" >"$scratch/login"
      case $address in https://*) url=$address ;; *) url=http://$address ;; esac
      WGETRC="$scratch/login" wget --no-verbose --no-proxy --no-hsts --server-response --content-on-error --tries=1 \
        ${ca_file:+--ca-certificate="$ca_file"} --timeout="$1" --header='Content-Type: application/json' --post-file="$scratch/question" \
        --output-document="$scratch/answer" "$url/v1/gate" 2>"$scratch/errors" || :
      status=$(sed -n 's/^ *HTTP\/[0-9.]* \([0-9][0-9][0-9]\).*/\1/p' "$scratch/errors" | tail -n 1)
      status=${status:-000}
    else
      bad_use 'neither curl nor wget is installed'
    fi
    case $status in
      000) problem="$address: $(tail -n 1 "$scratch/errors")" ;;
      *) problem="it answered $status: $(text_of detail)" ;;
    esac
  }

  # Escaped quotes become apostrophes, so that a string ends at the next quote.
  plain_answer() { tr -d '\n' <"$scratch/answer" | sed "s/\\\\\"/'/g"; }
  text_of() { plain_answer | sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p"; }
  number_of() { plain_answer | sed -n "s/.*\"$1\":\\([0-9][0-9]*\\).*/\\1/p"; }
  # Objects of the list $1, at most five: from its name to the end of the list.
  objects_of() {
    plain_answer | sed "s/.*\"$1\":\\[//; s/\"refused\":\\[.*//" | tr '{' '\n' |
      sed -n 's/.*"object":"\([^"]*\)".*/\1/p' | head -n 5 | tr '\n' ' ' | sed 's/ $//; s/ /; /g'
  }
  short() { printf '%.12s' "$1"; }

  decision() {
    said=$(plain_answer | sed -n 's/^{"decision":"\([a-z]*\)".*/\1/p')
    case $status/$said in
      200/open | 409/superseded | 423/closed) echo "$said" ;;
      *) echo none ;;
    esac
  }

  end=$(($(date +%s) + seconds))
  attempt=0
  while :; do
    left=$((end - $(date +%s)))
    [ "$left" -ge 1 ] || left=1
    ask "$left"
    decision=$(decision)
    attempt=$((attempt + 1))
    wait=
    # A failed render counts at Argo CD, and three of one commit freeze it: strict waits here instead, as long as it may.
    case $decision/$mode in
      closed/strict)
        wait=$((($(number_of retryAfterMs) + 999) / 1000))
        [ "$wait" -ge 1 ] || wait=1
        [ "$wait" -le 5 ] || wait=5
        ;;
      none/strict) [ "$status" != 000 ] || wait=1 ;;
      none/advise) if [ "$status" = 000 ] && [ "$attempt" -lt 3 ]; then wait=1; fi ;;
    esac
    [ -n "$wait" ] || break
    [ $(($(date +%s) + wait)) -lt "$end" ] || break
    sleep "$wait"
  done

  code=0
  case $decision in
    superseded)
      edits=$(objects_of edits)
      start="superseded: $(short "$revision") is not the newest; $(short "$(text_of tip)") follows it"
      say "$start${edits:+ and holds edits made live: $edits}. Sync that one."
      code=65
      ;;
    closed)
      say "closed ($(text_of reason)): $(text_of message). Edits made live may not be in $(short "$revision") yet."
      code=66
      ;;
    none)
      say "the sidecar gives no answer: $problem. Edits made live may not be in $(short "$revision") yet."
      code=69
      ;;
  esac
  if [ "$decision" = open ] || [ "$decision" = superseded ]; then
    refused=
    if plain_answer | grep '"refused":\[{' >/dev/null; then refused=$(objects_of refused); fi
    [ -z "$refused" ] || say "live edits that cannot be written to Git, and that a sync overwrites: $refused."
  fi
  if [ "$mode" = strict ] && [ "$code" -ne 0 ]; then
    exit "$code"
  fi
  answer
}

# In a subshell, so that COMMAND finds every variable as it was. Ends with 0 when COMMAND is to run.
gate_folder=$(gate "$@") || exit $?
while [ $# -gt 0 ]; do
  case $1 in
    --)
      shift
      break
      ;;
    --*) shift 2 ;;
    *) break ;;
  esac
done
if [ -n "$gate_folder" ]; then
  cd "$gate_folder" || exit 126
fi
exec "$@"
