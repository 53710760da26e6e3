# Sourced by ../build.sh.
programs="source-controller kustomize-controller"

compile() {
  controller source-controller "5 minutes"
  controller kustomize-controller "1 minute"
}

controller() {
  step "$1 $(version_of "github.com/fluxcd/$1")" "$2" \
    go build -trimpath -ldflags "-s -w" -o "$scratch/bin/$1" "github.com/fluxcd/$1"
}
