#!/bin/sh
# Installs the pinned tools of tests and lint into build/tools (git-ignored), or
# into $AGENTHOST_TOOLS. What is there already is left alone, so a second run takes
# no time and needs no network.
#
#   fakes/tools/install.sh [clis] [sdk-js] [sdk-py] [sdk-go] [tests] [lint] | all
#
# clis    bin/codex, bin/claude: the native programs out of the npm packages;
#         bin/qwen, bin/gemini: the commands of their npm packages, which need node
#         to run; bin/opencode: the native program out of its package
# sdk-js  sdk-js/newest: the official JavaScript SDK; sdk-js/agents: with the
#         Agents SDK
# sdk-py  py-VERSION: a virtual environment a version of the official Python SDK;
#         py-agents-VERSION: one with the Agents SDK
# sdk-go  into Go's module cache: the official Go SDK
# tests   bin/gotestsum, which runs the suite
# lint    bin/golangci-lint
#
# Each stage prints one line with its seconds. Exit status: 0 all installed, 1 a
# stage failed, 2 wrong use, 3 the stage's own package manager is missing.
set -eu

golangci_lint=v2.15.0
gotestsum=v1.13.0

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
tools=${AGENTHOST_TOOLS:-$root/build/tools}

usage() {
	sed -n '2,/^set -eu/{/^set -eu/d;s/^# \{0,1\}//;p;}' "$0"
}

need() {
	command -v "$1" >/dev/null 2>&1 && return 0
	echo "$stage: needs $1, which is not on PATH" >&2
	exit 3
}

# installed DIR SUM says that DIR was completed from these very lock files.
installed() {
	[ -f "$1/.installed" ] && [ "$(cat "$1/.installed")" = "$2" ]
}

sum() {
	cat "$@" | cksum | tr ' ' '-'
}

# npm_ci FROM TO installs a lock file. Install scripts are not run: the programs
# that we use need none.
npm_ci() {
	need npm
	rm -rf "$2"
	mkdir -p "$2"
	cp "$1/package.json" "$1/package-lock.json" "$2/"
	(cd "$2" && npm ci --ignore-scripts --engine-strict=false --no-audit --no-fund --loglevel=error >/dev/null)
}

# link_native NAME FILE... makes bin/NAME of the first FILE that runs here.
link_native() {
	name=$1
	shift
	for file in "$@"; do
		if [ -f "$file" ] && "$file" --version >/dev/null 2>&1; then
			ln -sfn "$file" "$tools/bin/$name"
			return 0
		fi
	done
	echo "clis: no program for this machine in the package of $name" >&2
	return 1
}

clis() {
	dir=$tools/clis
	want=$(sum "$here/clis/package.json" "$here/clis/package-lock.json")
	installed "$dir" "$want" && [ -x "$tools/bin/codex" ] && [ -x "$tools/bin/claude" ] && return 0
	npm_ci "$here/clis" "$dir"
	mkdir -p "$tools/bin"
	link_native codex "$dir"/node_modules/@openai/codex-*/vendor/*/bin/codex
	link_native claude "$dir"/node_modules/@anthropic-ai/claude-code-*/claude
	echo "$want" >"$dir/.installed"
}

# cli NAME PATTERN installs one CLI into a folder of its own: a new version of one
# does not take the others away from tests that are using them.
cli() {
	name=$1
	pattern=$2
	dir=$tools/$name
	want=$(sum "$here/$name/package.json" "$here/$name/package-lock.json")
	installed "$dir" "$want" && [ -x "$tools/bin/$name" ] && return 0
	npm_ci "$here/$name" "$dir"
	mkdir -p "$tools/bin"
	# shellcheck disable=SC2086 # the pattern is to be expanded
	link_native "$name" "$dir"/node_modules/$pattern
	echo "$want" >"$dir/.installed"
}

sdk_js() {
	for from in "$here"/sdk-js/*/; do
		from=${from%/}
		dir=$tools/sdk-js/$(basename "$from")
		want=$(sum "$from/package.json" "$from/package-lock.json")
		installed "$dir" "$want" && continue
		npm_ci "$from" "$dir"
		echo "$want" >"$dir/.installed"
	done
}

sdk_py() {
	for from in "$here"/sdk-py/requirements-*.txt; do
		version=${from##*/requirements-}
		dir=$tools/py-${version%.txt}
		want=$(sum "$from")
		installed "$dir" "$want" && "$dir/bin/python" -c '' 2>/dev/null && continue
		need python3
		rm -rf "$dir"
		python3 -m venv "$dir"
		"$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes --only-binary :all: -r "$from"
		echo "$want" >"$dir/.installed"
	done
}

sdk_go() {
	need go
	(cd "$root/cmd/acceptance/testdata/sdk-go" && go mod download github.com/openai/openai-go/v3 && go list -deps . >/dev/null)
}

tests() {
	if [ -x "$tools/bin/gotestsum" ] && "$tools/bin/gotestsum" --version 2>/dev/null | grep -q "${gotestsum#v}"; then
		return 0
	fi
	need go
	GOBIN=$tools/bin go install "gotest.tools/gotestsum@$gotestsum"
}

lint() {
	if [ -x "$tools/bin/golangci-lint" ] && "$tools/bin/golangci-lint" version 2>/dev/null | grep -q "${golangci_lint#v}"; then
		return 0
	fi
	need go
	GOBIN=$tools/bin go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$golangci_lint"
}

[ $# -gt 0 ] || set -- all
[ "$1" = all ] && set -- clis sdk-js sdk-py sdk-go tests lint
for stage in "$@"; do
	case $stage in
	clis | sdk-js | sdk-py | sdk-go | tests | lint) ;;
	-h | --help | help)
		usage
		exit 0
		;;
	*)
		echo "install.sh: unknown stage $stage" >&2
		usage >&2
		exit 2
		;;
	esac
done
# One at a time: two runs would take each other's files away.
mkdir -p "$tools"
tools=$(CDPATH='' cd -P -- "$tools" && pwd) # links outlive a work tree that shares it
if command -v flock >/dev/null 2>&1; then
	exec 9>"$tools/.lock"
	flock 9
fi
for stage in "$@"; do
	start=$(date +%s)
	case $stage in
	clis)
		clis
		cli qwen .bin/qwen
		case $(uname -sm) in 'Linux x86_64') cli opencode opencode-linux-x64/bin/opencode ;; esac
		cli gemini .bin/gemini
		;;
	sdk-js) sdk_js ;;
	sdk-py) sdk_py ;;
	sdk-go) sdk_go ;;
	tests) tests ;;
	lint) lint ;;
	esac
	echo "$stage: installed ($(($(date +%s) - start)) s)"
done
