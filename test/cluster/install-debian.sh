#!/bin/sh
# Installs what the tests need from Debian's packages, and only what is missing. Needs root when something is.
# `install-debian.sh demo` looks only at what the demo needs; APPLIER=argocd needs more.
set -eu

PATH="$PATH:/usr/sbin:/sbin"
packages=
for=${1:-tests}

need() { # need PACKAGE PROGRAM
  command -v "$2" >/dev/null || packages="$packages $1"
}

need git git
need openssl openssl
if [ "$for" = tests ]; then
  need openssh-server sshd
  need openssh-client ssh-keygen
  need redis-server redis-server
  need curl curl
  need wget wget
elif [ "${APPLIER:-}" = argocd ]; then
  need redis-server redis-server
fi

if [ -z "$packages" ]; then
  exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "install-debian.sh: please install, as root:$packages" >&2
  exit 1
fi

# The packages start their services only where an init system runs; the tests start their own.
echo "installing from Debian:$packages"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # one word per package
apt-get install -y -qq --no-install-recommends $packages >/dev/null
