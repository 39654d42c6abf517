#!/bin/sh
# Masters music that no test uses, beside ffmpeg's loudnorm and a plain transcoding, and
# prints the ratios: game music out of Debian packages, which are downloaded and unpacked
# into a temporary folder (about 80 MB) and not installed. Arguments go to the
# benchmark: scripts/bench-music.sh -files 24
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM
chmod 755 "$dir"
for package in drascula-music lincity-ng-data; do
	(cd "$dir" && apt-get download -q "$package" >/dev/null)
	dpkg-deb -x "$dir/$package"_*.deb "$dir/$package"
done
# Two files at a time, and two files in a turn: a machine that gets busy is busy for all.
go run ./test/bench/mastering -batch 2 "$@" \
	"$dir/drascula-music/usr/share/scummvm/drascula/audio" "$dir/lincity-ng-data/usr/share/games/lincity-ng/music"
