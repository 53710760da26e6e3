# Sourced by ../build.sh. One binary: the name it is called by, or ARGOCD_BINARY_NAME, picks the component.
components="argocd-server argocd-application-controller argocd-repo-server argocd-cmp-server"
programs="argocd $components"

compile() {
  local bin=$1 version program module=github.com/argoproj/argo-cd/v3
  version=$(version_of $module)
  step "argocd $version" "6 minutes" \
    go build -trimpath -ldflags "-s -w -X $module/common.version=${version#v}" -o "$bin/argocd" $module/cmd
  for program in $components; do
    ln -s argocd "$bin/$program"
  done
}
