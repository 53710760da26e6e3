# Sourced by ../build.sh.
programs="flux"

# flux2 embeds install manifests that are made when it is released and are not in its module. We install with our own,
# so an empty file in a copy of the module takes their place.
compile() {
  local bin=$1 module=github.com/fluxcd/flux2/v2 source version
  go mod download $module
  source=$(go list -m -f '{{.Dir}}' $module)
  version=$(version_of $module)
  cp -R "$source" "$scratch/flux2"
  chmod -R u+w "$scratch/flux2"
  mkdir -p "$scratch/flux2/cmd/flux/manifests"
  touch "$scratch/flux2/cmd/flux/manifests/none.yaml"
  cd "$scratch/flux2"
  step "flux $version" "4 minutes" \
    go build -trimpath -ldflags "-s -w -X main.VERSION=${version#v}" -o "$bin/flux" ./cmd/flux
  rm -rf "$scratch/flux2"
}
