# Shared by the commands in .ci: system packages, the interpreter, virtual environments, the build.
# Sourced with the repository's root as the working directory.

unset PYTHONPATH PYTHONHOME
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' dim=$'\e[2m' plain=$'\e[0m'
else
  bold='' red='' green='' dim='' plain=''
fi

note() { printf '%s%s%s\n' "$dim" "$*" "$plain" >&2; }

fail() {
  printf '%s%s%s\n' "$red" "$1" "$plain" >&2
  shift
  [ $# -eq 0 ] || printf '%s\n' "$@" >&2
  exit 1
}

# Runs a command and shows its output only if it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

# The C++ compiler that CMake would choose.
compiler() { command -v "${CXX:-c++}" || command -v g++ || command -v clang++; }

has_header() {
  local cxx
  cxx=$(compiler) && "$cxx" -E -include "$1" -x c++ /dev/null >/dev/null 2>&1
}

# Finds an interpreter that can build and install the package: CPython 3.11 or newer with venv, pip
# and its headers. Prints the real path, because a shim (pyenv) may resolve differently elsewhere, and not
# that of a virtual environment, which another command may make again.
python_probe='
import ensurepip, os, sys, sysconfig, venv
assert sys.implementation.name == "cpython" and sys.version_info >= (3, 11)
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
print(os.path.realpath(sys._base_executable))
'
find_python() {
  local candidate
  if [ -n "${PYTHON:-}" ]; then
    "$PYTHON" -c "$python_probe" 2>/dev/null
    return
  fi
  for candidate in python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3; do
    "$candidate" -c "$python_probe" 2>/dev/null && return
  done
  return 1
}

# Each CPython that can build, one a version: on the PATH, and where pyenv and uv keep them. `PYTHONS`
# names others.
find_pythons() {
  local candidate found version
  local -A seen=()
  if [ -n "${PYTHONS:-}" ]; then
    for candidate in $PYTHONS; do
      "$candidate" -c "$python_probe" 2>/dev/null || fail "Not a CPython to build with: $candidate" >&2
    done
    return
  fi
  for candidate in python3.1{1,2,3,4}{,t} python3 "$(pyenv root 2>/dev/null || true)"/versions/3.1[1-4]*/bin/python3 \
    "${UV_PYTHON_INSTALL_DIR:-$HOME/.local/share/uv/python}"/cpython-3.1[1-4]*/bin/python3; do
    found=$("$candidate" -c "$python_probe" 2>/dev/null) || continue
    version=$("$found" -c 'import sys; print(sys.version_info[:2], sys.abiflags)')
    [ -z "${seen[$version]:-}" ] || continue
    seen[$version]=yes
    echo "$found"
  done
}

# Copies the headers of the interpreter $1 into the folder $2, for a compiler that does not search this
# machine's folders. Debian's pyconfig.h includes the one of a platform; the copy is that of this machine.
python_headers() {
  local headers configuration
  {
    read -r headers
    read -r configuration
  } < <("$1" -c '
import pathlib, sysconfig
headers = pathlib.Path(sysconfig.get_path("include"))
chosen = headers.parent / (sysconfig.get_config_var("MULTIARCH") or "") / headers.name / "pyconfig.h"
print(headers, chosen if chosen.exists() else sysconfig.get_config_h_filename(), sep="\n")')
  rm -rf "$2"
  mkdir -p "$2"
  cp -r "$headers"/. "$2/"
  cp --remove-destination "$configuration" "$2/pyconfig.h"
}

# The Debian packages that the build lacks. Whoever sets PYTHON provides that interpreter.
missing_packages() {
  compiler >/dev/null || echo g++
  has_header curl/curl.h || echo libcurl4-openssl-dev
  has_header zlib.h || echo zlib1g-dev
  [ -n "${PYTHON:-}" ] || find_python >/dev/null || printf '%s\n' python3-dev python3-venv
}

# Installs Debian packages; without apt or the necessary rights, says what to install instead.
apt_install() {
  local -a root=()
  [ $# -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "Packages are missing, and this system has no apt-get." \
    "Install what these are called on your system, then run the command again:" "  $*"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "Packages are missing, and you are neither root nor have sudo." \
      "Have an administrator run this, then run the command again:" "  apt-get install $*"
    root=(sudo)
  fi
  note "Installing $* ..."
  quietly "${root[@]}" apt-get -q update || note "apt-get update failed; continuing with the existing package lists."
  # In run level 1 Debian's maintainer scripts start no service (nginx would occupy port 80).
  quietly "${root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
    apt-get -q -y --no-install-recommends install "$@" ||
    fail "apt-get could not install a package." "Install these, then run the command again: $*"
}

# Installs the build's system packages; sets `python`.
install_build_packages() {
  local -a missing
  mapfile -t missing < <(missing_packages)
  apt_install "${missing[@]}"
  python=$(find_python) || fail "No usable Python: it must be CPython 3.11 or newer, with venv and headers." \
    "Looked at: ${PYTHON:-python3, python3.14 to python3.11, /usr/bin/python3}" \
    "To use another one: PYTHON=/path/to/python $0"
}

# The environment that holds the build tools: CMake, Ninja, pybind11, and uv for fast installations.
tools=.venv-build

# Makes the virtual environment $1 unless a usable one for this place and interpreter exists.
make_venv() {
  local home
  home="$(pwd -P)/$1 by $python"
  [ "$(cat "$1/.home" 2>/dev/null)" = "$home" ] && "$1/bin/python" -c '' 2>/dev/null && return
  quietly "$python" -m venv --clear "$1" && printf '%s\n' "$home" >"$1/.home"
}

# The value of pip's setting $1, which uv does not read by itself.
pip_setting() {
  "$tools/bin/python" -m pip config list 2>/dev/null | sed -n "s/^[^=]*\.$1='\(.*\)'\$/\1/p" | tail -n 1
}

# Installs into the virtual environment $1. uv is about ten times faster than pip, but not available
# for every platform, and blind to some of pip's settings: pip has the last word.
pip_install() {
  local venv=$1 index certificates
  local -a settings=()
  shift
  if [ -x "$tools/bin/uv" ]; then
    index=$(pip_setting index-url)
    certificates=$(pip_setting cert)
    [ -z "$index" ] || settings+=("UV_DEFAULT_INDEX=$index")
    [ -z "$certificates" ] || settings+=("SSL_CERT_FILE=$certificates")
    env "${settings[@]}" "$tools/bin/uv" pip install --quiet --no-progress \
      --python "$venv/bin/python" "$@" >/dev/null 2>&1 && return
  fi
  quietly "$venv/bin/python" -m pip install "$@"
}

# What the project requires under $1 of pyproject.toml ("build-system.requires",
# "project.optional-dependencies.lint"), one requirement a line.
requirements() {
  "$python" -c '
import sys, tomllib
found = tomllib.load(open("pyproject.toml", "rb"))
for key in sys.argv[1].split("."):
    found = found[key]
print(*found, sep="\n")' "$1"
}

install_build_tools() {
  local -a needed
  make_venv "$tools" || return
  mapfile -t needed < <(requirements build-system.requires)
  needed+=('cmake>=3.26' 'ninja>=1.12')
  [ "$(cat "$tools/.installed" 2>/dev/null)" != "${needed[*]}" ] || return 0
  [ -x "$tools/bin/uv" ] || "$tools/bin/python" -m pip install --quiet uv >/dev/null 2>&1 || true
  pip_install "$tools" "${needed[@]}" || return
  echo "${needed[*]}" >"$tools/.installed"
}

# Identifies what an installed package is made from, and where; if it differs, install again.
fingerprint() {
  {
    pwd -P
    "$python" -VV
    find README.md LICENSE pyproject.toml CMakeLists.txt cpp/CMakeLists.txt cpp/cmake \
      cpp/src python/bindings python/tradingdata python/tradingdata_pytest \
      -type f ! -name '*.pyc' -print0 | sort -z | xargs -0 sha256sum
  } | sha256sum | cut -d' ' -f1
}

# Builds the one wheel that every environment here installs, unless nothing has changed; sets
# `wheel`. The build folder stays, so that a change compiles only what it affects.
build_wheel() {
  local wheels
  wheels=build/wheels/$(fingerprint)
  if ! compgen -G "$wheels/*.whl" >/dev/null; then
    note "Building tradingdata ..."
    install_build_tools || return
    rm -rf build/wheels
    PATH=$PWD/$tools/bin:$PATH quietly "$tools/bin/python" -m pip wheel --no-deps --no-build-isolation \
      --config-settings=build-dir=build/extension --wheel-dir "$wheels" . || return
  fi
  wheel=$(compgen -G "$wheels/*.whl")
}

# Installs the package, with extras ("" or "[test,lint]"), into the virtual environment $1. Does
# nothing if nothing has changed.
install_package() {
  local venv=$1 extras=$2 wheel
  build_wheel || return
  if [ "$(cat "$venv/.fingerprint" 2>/dev/null)" = "$wheel $extras" ] &&
    "$venv/bin/python" -c 'import tradingdata' 2>/dev/null; then
    return
  fi
  install_build_tools || return
  make_venv "$venv" || return
  rm -f "$venv/.fingerprint"
  note "Installing tradingdata$extras into $venv ..."
  pip_install "$venv" --force-reinstall --no-deps "$wheel" || return
  [ -z "$extras" ] || pip_install "$venv" "tradingdata$extras @ file://$PWD/$wheel" || return
  printf '%s\n' "$wheel $extras" >"$venv/.fingerprint"
}

# Builds what is linked into a wheel for the platform $1, in build/static. It stays in the wheel, so it
# is built again when Debian has a newer source.
static_libraries() {
  local folder=$PWD/build/static/$1 newest wanted
  newest=$(LC_ALL=C apt-cache policy libcurl4-openssl-dev libssl-dev zlib1g-dev libisal-dev 2>/dev/null | grep Candidate || true)
  wanted=$({
    cat .ci/static-curl .ci/cross.sh
    echo "${CURL_SOURCE:-} ${ISAL_SOURCE:-} $newest"
  } | sha256sum)
  [ "$(cat "$folder/.made-by" 2>/dev/null)" != "$wanted" ] || return 0
  rm -rf "$folder"
  if [ "$1" = native ]; then ./.ci/static-curl "$folder"; else ./.ci/static-curl "$folder" "$1"; fi
  printf '%s\n' "$wanted" >"$folder/.made-by"
}
