# Sourced by ../build.sh.
programs="kubernetes etcd kube-apiserver kube-controller-manager kubectl"

compile() {
  local bin=$1 version program stamp=k8s.io/component-base/version
  version=$(version_of k8s.io/kubernetes)
  # Clients cannot parse the version of a server that was built without these.
  step "kube-apiserver, kube-controller-manager, kubectl and etcd (kubernetes $version)" "8 minutes" \
    go build -trimpath -o "$bin/kubernetes" \
    -ldflags "-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=$(cut -d. -f1 <<<"${version#v}") -X $stamp.gitMinor=$(cut -d. -f2 <<<"$version")" .
  for program in etcd kube-apiserver kube-controller-manager kubectl; do
    ln -s kubernetes "$bin/$program"
  done
}
