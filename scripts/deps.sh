#!/bin/sh
# Installs what Athir needs from Debian, and only what is missing.
#
#   scripts/deps.sh run      to run the station on the demo library
#   scripts/deps.sh station  to run it on a music folder of your own
#   scripts/deps.sh test     to run the tests as well
#   scripts/deps.sh soak     and the soak tests
#   scripts/deps.sh deb      only what make deb-test needs beside Go
#
# Safe to repeat; asks nothing; needs root only when something is missing.
# It starts and enables no service: the station runs its own Icecast and nginx.
set -u
export LC_ALL=C PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

mode=${1:-run}
case "$mode" in run | station | test | soak | deb) ;; *)
	echo "usage: $0 run|station|test|soak|deb" >&2
	exit 2
	;;
esac

tests=no
case "$mode" in test | soak) tests=yes ;; esac

# group <name> <packages>: one line of the list below.
groups() {
	case "$mode" in soak | deb)
		echo "another machine:   systemd mmdebstrap systemd-container"
		echo "containers:        podman runc netavark aardvark-dns iptables docker.io docker-compose"
		;;
	esac
	[ "$mode" != deb ] || return 0
	echo "playout engine:    liquidsoap"
	echo "streaming server:  icecast2"
	echo "audio tools:       ffmpeg sox libchromaprint-tools aubio-tools"
	echo "ingest:            nginx-light libnginx-mod-rtmp"
	echo "voice:             espeak-ng"
	[ "$mode" = station ] || echo "demo music:        wesnoth-1.16-music singularity-music"
	[ "$tests" = no ] || echo "test music:        asc-music hyperrogue-music"
	[ "$tests" = no ] || echo "test browser:      chromium fonts-noto-core"
	[ "$tests" = no ] || echo "test downloader:   yt-dlp"
	[ "$tests" = no ] || echo "alert rules:       prometheus"
	[ "$tests" = no ] || echo "https in front:    caddy"
	[ "$tests" = no ] || echo "service units:     systemd"
	[ "$tests" = no ] || echo "leaping clock:     libfaketime"
	[ "$tests" = no ] || echo "feed parser:       libxml2-utils"
	[ "$tests" = no ] || echo "race detector:     gcc libc6-dev"
	[ "$mode" != soak ] || echo "desktop encoder:   butt xvfb pulseaudio libasound2-plugins"
}

# present: a package counts as there when dpkg says so, or when its program is
# there from elsewhere.
present() {
	[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] && return 0
	case "$1" in
	liquidsoap | icecast2 | ffmpeg | sox | espeak-ng | chromium | yt-dlp | caddy | gcc) command -v "$1" >/dev/null ;;
	libchromaprint-tools) command -v fpcalc >/dev/null ;;
	prometheus) command -v promtool >/dev/null ;;
	systemd) command -v systemd-analyze >/dev/null ;;
	aubio-tools) command -v aubiotrack >/dev/null ;;
	nginx-light) command -v nginx >/dev/null ;;
	libxml2-utils) command -v xmllint >/dev/null ;;
	*) false ;;
	esac
}

missing_of() {
	for p in "$@"; do
		present "$p" || printf '%s ' "$p"
	done
}

line() { printf '  %-19s%s\n' "$1" "$2"; }

# --- compilers: found, not installed -------------------------------------

fail=0
need() { # need <what> <found> <remedy>
	line "$1" "${2:-missing: $3}"
	[ -n "$2" ] || fail=1
}
go_version=$(go env GOVERSION 2>/dev/null | sed 's/^go//')
case "$go_version" in 1.[0-9] | 1.1[0-9]* | 1.20*) go_version= ;; esac
node_version=$(node --version 2>/dev/null | sed 's/^v//')
[ "${node_version%%.*}" -ge 20 ] 2>/dev/null || node_version=
echo "Checking what Athir needs"
need "Go:" "$go_version" "install Go 1.26 or newer from https://go.dev/dl/ (1.21 or newer fetches it by itself)"
need "Node:" "$node_version" "install Node 20 or newer from https://nodejs.org/"
need "npm:" "$(npm --version 2>/dev/null)" "it comes with Node"
[ $fail = 0 ] || exit 1

# --- packages ------------------------------------------------------------

all_missing=$(groups | while IFS=: read -r _ packages; do missing_of $packages; done)
if [ -z "$all_missing" ]; then
	groups | while IFS=: read -r name packages; do line "$name:" "there"; done
	exit 0
fi

root=
if [ "$(id -u)" != 0 ]; then
	if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		root="sudo -n"
	else
		echo
		echo "Some packages are missing and this is not root. Run this, then try again:"
		echo
		echo "  sudo apt-get install --no-install-recommends ${all_missing% }"
		echo
		echo "(Then 'sudo systemctl disable --now nginx icecast2' if you have no other use for these:"
		echo "the station starts its own.)"
		exit 1
	fi
fi
command -v apt-get >/dev/null || {
	echo "Missing: ${all_missing% }. There is no apt-get here; install them your system's way." >&2
	exit 1
}

work=$(mktemp -d) || exit 1
policy=/usr/sbin/policy-rc.d
ours=
cleanup() {
	[ -z "$ours" ] || $root rm -f "$policy"
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

# Debian starts a daemon as it is installed, unless policy-rc.d forbids it.
# An operator's own policy stays as it is.
if [ ! -e "$policy" ]; then
	cat >"$work/policy" <<'POLICY'
#!/bin/sh
# Put here by Athir's scripts/deps.sh while it installs; removed afterwards.
for word in "$@"; do
	case "$word" in nginx | nginx.service | icecast2 | icecast2.service | prometheus | prometheus.service | caddy | caddy.service | podman* | docker* | containerd*) exit 101 ;; esac
done
exit 0
POLICY
	ours=yes
	$root install -m 755 "$work/policy" "$policy" || exit 1
fi

apt() { $root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y "$@"; }

# known: whether apt has a version of every package to offer.
known() {
	for p in "$@"; do
		apt-cache policy "$p" 2>/dev/null | grep -q '^  Candidate: [^(]' || return 1
	done
}

update() {
	[ -z "${updated:-}" ] || return 1
	updated=yes
	line "package lists:" "updating"
	apt update >"$work/log" 2>&1
}

# install_quietly shows apt's own percentage where someone is looking. The
# status lines share standard output, because sudo closes every other channel.
install_quietly() {
	: >"$work/log"
	rm -f "$work/code"
	{
		apt -o APT::Status-Fd=1 -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@" 2>&1
		echo $? >"$work/code"
	} | while IFS= read -r said; do
		case "$said" in
		dlstatus:* | pmstatus:*)
			[ -t 1 ] || continue
			rest=${said#*:*:}
			printf '\r  %-19s%3.0f %%  %.50s\033[K' "$name:" "${rest%%:*}" "${rest#*:}"
			;;
		*) printf '%s\n' "$said" >>"$work/log" ;;
		esac
	done
	[ ! -t 1 ] || printf '\r\033[K'
	return "$(cat "$work/code" 2>/dev/null || echo 1)"
}

# stay_off keeps a daemon that was installed here from starting at the next boot.
stay_off() {
	for service in nginx icecast2 prometheus caddy; do
		case " $1 " in *" $service "* | *" $service-light "*) ;; *) continue ;; esac
		if command -v systemctl >/dev/null; then
			$root systemctl disable "$service" >/dev/null 2>&1
		else
			$root update-rc.d "$service" disable >/dev/null 2>&1
		fi
	done
	case " $1 " in *" docker.io "*)
		! command -v systemctl >/dev/null || $root systemctl disable docker.socket docker.service containerd.service >/dev/null 2>&1
		;;
	esac
	case " $1 " in *" podman "*)
		! command -v systemctl >/dev/null || $root systemctl disable podman.socket podman.service podman-restart.service podman-auto-update.timer >/dev/null 2>&1
		;;
	esac
	return 0
}

install_group() { # install_group <name> <missing packages>
	name=$1
	shift
	begin=$(date +%s)
	known "$@" || update
	[ -t 1 ] || line "$name:" "installing $*"
	# Old lists name versions that are gone: refresh them once, and try again.
	if ! install_quietly "$@" && ! { update && install_quietly "$@"; }; then
		line "$name:" "not installed. apt says:"
		{ grep -iE 'error|unable|cannot|unmet' "$work/log" | head -n 8; tail -n 8 "$work/log"; } | sed 's/^/    /'
		echo "  Remedy: apt-get install --no-install-recommends $*"
		return 1
	fi
	stay_off "$*"
	line "$name:" "installed $* ($(($(date +%s) - begin)) s)"
}

groups >"$work/groups"
while IFS=: read -r name packages <&4; do
	missing=$(missing_of $packages)
	if [ -z "$missing" ]; then
		line "$name:" "there"
	else
		install_group "$name" $missing || exit 1
	fi
done 4<"$work/groups"
