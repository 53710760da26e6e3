# Sourced by ../build.sh.
programs="kustomize sops age-keygen"

compile() {
  local bin=$1 kustomize=sigs.k8s.io/kustomize/kustomize/v5
  step "kustomize $(version_of $kustomize)" "1 minute" \
    go build -trimpath -ldflags "-s -w -X sigs.k8s.io/kustomize/api/provenance.version=$(version_of $kustomize)" -o "$bin/kustomize" $kustomize
  step "sops $(version_of github.com/getsops/sops/v3)" "3 minutes" \
    go build -trimpath -ldflags "-s -w" -o "$bin/sops" github.com/getsops/sops/v3/cmd/sops
  step "age-keygen $(version_of filippo.io/age)" "1 minute" \
    go build -trimpath -ldflags "-s -w" -o "$bin/age-keygen" filippo.io/age/cmd/age-keygen
}
