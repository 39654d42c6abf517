#!/usr/bin/env bash
# Builds the Debian packages into bin/deb. The pages must be built before (make pages).
#
#   scripts/deb.sh               amd64 and arm64
#   scripts/deb.sh amd64         one of them
#
# Tests set BINARY, a program to pack instead of building one; OUT, another folder than
# bin/deb; and DESCRIBED, another version than that of git describe.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x bin/tools/nfpm ] || scripts/tools.sh

described=${DESCRIBED:-$(git describe --tags --always --dirty 2>/dev/null || echo unknown)}
# Debian orders 1.2~rc1 < 1.2 < 1.2+5.gabc < 1.3, and a revision without any release
# before all of them.
case $described in
v[0-9]*) VERSION=$(sed -E 's/^v//; s/-([0-9]+)-g([0-9a-f]+)/+\1.g\2/; s/-dirty$/+dirty/; s/-/~/g' <<<"$described") ;;
*) VERSION=0~$(git rev-list --count HEAD 2>/dev/null || echo 0).g${described//-/+} ;;
esac
export VERSION ARCH BUILD

changed=$(git log -1 --format=%cD 2>/dev/null || date -R)
SOURCE_DATE_EPOCH=$(date -d "$changed" +%s)
export SOURCE_DATE_EPOCH # files and package are the same bytes for the same revision

out=${OUT:-bin/deb}
mkdir -p "$out"
for ARCH in ${*:-amd64 arm64}; do
	BUILD=$out/$ARCH
	rm -rf "$BUILD" && mkdir -p "$BUILD"
	if [ -n "${BINARY:-}" ]; then
		cp "$BINARY" "$BUILD/athir"
	else
		CGO_ENABLED=0 GOOS=linux GOARCH=$ARCH go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$described" -o "$BUILD/athir" ./cmd/athir
	fi
	gzip -9n <deploy/debian/athir.1 >"$BUILD/athir.1.gz"
	printf 'athir (%s) stable; urgency=medium\n\n  * Built from %s.\n\n -- Athir developers <developers@athir-radio.invalid>  %s\n' \
		"$VERSION" "$described" "$changed" | gzip -9n >"$BUILD/changelog.gz"
	said=$(bin/tools/nfpm package --config deploy/debian/nfpm.yaml --packager deb --target "$out/athir_${VERSION}_$ARCH.deb" 2>&1) || {
		echo "$said" >&2
		exit 1
	}
	rm -rf "$BUILD"
	echo "$out/athir_${VERSION}_$ARCH.deb"
done
