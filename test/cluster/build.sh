#!/usr/bin/env bash
# Builds the real programs the tests run against, once, into the user's cache folder. See README.md.
#   build.sh [GROUP ...]          build these groups (kubernetes and tools when none is named); instant when built already
#   build.sh --print-path NAME    print the path of a built program
#   build.sh --print-bin GROUP    print the folder with a built group's programs, for PATH
# Each group is a folder here with a Go module and a recipe.sh, which says what it builds and how.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
parts="${GITOPS_REVERSER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gitops-reverser}/parts"
groups="kubernetes tools flux argocd flux-cli"
heartbeat_seconds=30
scratch=
lock=

export CGO_ENABLED=0

main() {
  case "${1:-}" in
    --print-path) print_path "${2:?--print-path needs the name of a program}" ;;
    --print-bin) built_bin "${2:?--print-bin needs the name of a group}" ;;
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" ;;
    -*) fail "unknown option $1; see build.sh --help" ;;
    *) build_groups "${@:-kubernetes tools}" ;;
  esac
}

build_groups() {
  local group
  for group in $*; do
    is_group "$group" || fail "unknown group '$group'; there are: $groups"
  done
  need_go
  for group in $*; do
    (build_group "$group")
  done
}

# Runs in a subshell, so that the recipe's names, the lock and the scratch folder end with it.
build_group() {
  local group=$1 folder
  folder="$parts/$group-$(key_of "$group")"
  if [ -d "$folder" ]; then
    echo "$group: built already, in $folder/bin"
    return
  fi
  mkdir -p "$parts"
  trap clean_up EXIT
  trap 'exit 130' INT TERM
  take_lock "$group"
  if [ -d "$folder" ]; then
    echo "$group: built by another process meanwhile, in $folder/bin"
    return
  fi
  rm -rf "$parts/.building-$group-"*
  scratch="$parts/.building-$group-$$"
  mkdir -p "$scratch/bin"
  . "$here/$group/recipe.sh"
  cd "$here/$group"
  compile "$scratch/bin"
  local program
  for program in $programs; do
    [ -x "$scratch/bin/$program" ] || fail "$group: the recipe made no $program"
  done
  mv "$scratch" "$folder"
  echo "$group: built, in $folder/bin"
}

# step WHAT USUALLY COMMAND... : one line when it starts, a sign of life while it runs, one line when it ends.
step() {
  local what=$1 usually=$2 log="$scratch/build.log" started=$SECONDS pid
  shift 2
  printf 'building %s: about %s the first time\n' "$what" "$usually"
  "$@" >"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
  while still_runs_after_a_while "$pid"; do
    printf '  … still building %s, %d s\n' "$what" $((SECONDS - started))
  done
  if ! wait "$pid"; then
    tail -n 40 "$log" >&2
    fail "building $what failed after $((SECONDS - started)) s: the reason is in the lines above (no network to the Go module proxy, or a full disk, are the usual ones)"
  fi
  printf '  … %s done in %d s\n' "$what" $((SECONDS - started))
}

still_runs_after_a_while() {
  local second
  for ((second = 0; second < heartbeat_seconds * 4; second++)); do
    kill -0 "$1" 2>/dev/null || return 1
    sleep 0.25
  done
}

# The lock is a symbolic link that points to our process id: made in one step, and readable by who has to wait.
take_lock() {
  local group=$1 owner told=
  until ln -s $$ "$parts/.lock-$group" 2>/dev/null; do
    owner=$(readlink "$parts/.lock-$group" || true)
    if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
      rm -f "$parts/.lock-$group"
      continue
    fi
    [ -n "$told" ] || echo "$group: process $owner builds it now; waiting (if that is no build, remove $parts/.lock-$group)"
    told=yes
    sleep 1
  done
  lock="$parts/.lock-$group"
}

clean_up() {
  [ -z "$scratch" ] || rm -rf "$scratch"
  [ -z "$lock" ] || rm -f "$lock"
}

# What a build depends on: the group's module and recipe, and the compiler. 12 hex digits.
key_of() {
  cd "$here/$1"
  { cat go.mod go.sum recipe.sh; find . -maxdepth 1 -name '*.go' -exec cat {} +; go env GOVERSION GOOS GOARCH; } | sha256 | cut -c1-12
}

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi
}

print_path() {
  local group bin
  for group in $groups; do
    if (. "$here/$group/recipe.sh" && [[ " $programs " == *" $1 "* ]]); then
      bin=$(built_bin "$group")
      echo "$bin/$1"
      return
    fi
  done
  fail "no group builds a program named '$1'"
}

built_bin() {
  is_group "$1" || fail "unknown group '$1'; there are: $groups"
  need_go
  local folder
  folder="$parts/$1-$(key_of "$1")"
  [ -d "$folder" ] || fail "$1 is not built yet: run 'make parts', or test/cluster/build.sh $1"
  echo "$folder/bin"
}

is_group() {
  [[ " $groups " == *" $1 "* ]]
}

need_go() {
  command -v go >/dev/null || fail "the Go toolchain is not in PATH: install Go 1.26 or newer, it builds the programs the tests run against"
}

# The version of a module that the group's go.mod asks for. For recipes.
version_of() {
  go list -m -f '{{.Version}}' "$1"
}

fail() {
  echo "build.sh: $1" >&2
  exit 1
}

main "$@"
