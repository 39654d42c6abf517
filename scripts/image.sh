#!/usr/bin/env bash
# Builds the container image from the Debian package, with docker or podman, whichever is
# there. The pages must be built before (make pages). It is tagged athir:local and
# athir:VERSION.
#
#   scripts/image.sh               for this machine's architecture
#   scripts/image.sh arm64         for amd64 or arm64; another than this machine's is emulated
#                                  (package qemu-user-static)
#
# DEB names a package to take instead of building one; ENGINE, docker or podman; OPTIONS,
# more words for its build command.
set -euo pipefail
cd "$(dirname "$0")/.."

engine=${ENGINE:-}
for one in docker podman; do
	[ -n "$engine" ] || ! "$one" info >/dev/null 2>&1 || engine=$one # docker without its daemon is of no use
done
[ -n "$engine" ] || {
	echo "An image is built by docker or podman, and neither works here. Debian has both: apt-get install podman, or docker.io" >&2
	exit 1
}

arch=${1:-$(dpkg --print-architecture 2>/dev/null || uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')}
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
if [ -z "${DEB:-}" ]; then
	OUT=$context scripts/deb.sh "$arch"
	DEB=$(echo "$context"/athir_*.deb)
fi
[ "$DEB" = "$context/athir.deb" ] || cp "$DEB" "$context/athir.deb"

version=$(dpkg-deb --field "$context/athir.deb" Version 2>/dev/null || basename "$DEB" | cut -d_ -f2)
words=(build --platform "linux/$arch" -f deploy/container/Containerfile -t athir:local -t "athir:${version//[^a-zA-Z0-9._-]/-}")
# The format of OCI has no place for HEALTHCHECK. BuildKit takes the package for as long as
# it is needed, so that no layer holds it.
[ "$engine" != podman ] || words+=(--format docker)
# shellcheck disable=SC2086 # one word an option
DOCKER_BUILDKIT=1 "$engine" "${words[@]}" ${OPTIONS:-} "$context"
