# Sourced by ../build.sh.
programs="source-controller kustomize-controller"

compile() {
  local bin=$1 program
  for program in $programs; do
    step "$program $(version_of "github.com/fluxcd/$program")" "5 minutes" \
      go build -trimpath -ldflags "-s -w" -o "$bin/$program" "github.com/fluxcd/$program"
  done
}
