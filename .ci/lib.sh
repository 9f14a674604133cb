# Shared by the commands in .ci: system packages, the interpreter, the environment of tools.
# Sourced with the repository's root as the working directory.

unset PYTHONPATH PYTHONHOME
# Every installation is into an environment of the checkout, even where pip is set to install for the user.
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_USER=0

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

# `needs PACKAGE COMMAND`: prints the package unless the command is there. Debian keeps servers where
# the PATH of an ordinary user does not lead.
needs() { PATH=$PATH:/usr/sbin:/sbin command -v "$2" >/dev/null || echo "$1"; }

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

# The Debian packages that the build lacks. Whoever sets PYTHON provides that interpreter.
build_packages() {
  compiler >/dev/null || echo g++
  has_header curl/curl.h || echo libcurl4-openssl-dev
  has_header zlib.h || echo zlib1g-dev
  [ -n "${PYTHON:-}" ] || find_python >/dev/null || printf '%s\n' python3-dev python3-venv
}

# Whether sudo can become root: without a password, or by asking for one.
can_sudo() { command -v sudo >/dev/null && { sudo -n true || : >/dev/tty; } 2>/dev/null; }

# Installs Debian packages; without apt or the necessary rights, says what to install instead.
apt_install() {
  local -a root=()
  [ $# -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "Packages are missing, and this system has no apt-get." \
    "Install what these are called on your system, then run the command again:" "  $*"
  if [ "$(id -u)" -ne 0 ]; then
    can_sudo || fail "Packages are missing, and this user cannot become root here." \
      "Run this as an administrator or in a terminal, then run the command again:" "  sudo apt-get install $*"
    root=(sudo)
  fi
  note "Installing $* ..."
  quietly "${root[@]}" apt-get -q update || note "apt-get update failed; continuing with the existing package lists."
  # In run level 1 Debian's maintainer scripts start no service (nginx would occupy port 80).
  quietly "${root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
    apt-get -q -y --no-install-recommends install "$@" ||
    fail "apt-get could not install a package." "Install these, then run the command again: $*"
}

# Makes the virtual environment $1 unless a usable one for this place and interpreter exists.
make_venv() {
  local home
  home="$(pwd -P)/$1 by $python"
  [ "$(cat "$1/.home" 2>/dev/null)" = "$home" ] && "$1/bin/python" -c '' 2>/dev/null && return
  quietly "$python" -m venv --clear "$1" && printf '%s\n' "$home" >"$1/.home"
}

# Installs the packages that the build and $@ lack, then uv and nox; sets `python`.
tools=.venv-tools
install_tools() {
  local -a missing
  [ -z "${CXX:-}" ] || command -v "${CXX%% *}" >/dev/null ||
    fail "The compiler that CXX names is not installed: $CXX" "Install it, or unset CXX."
  mapfile -t missing < <(build_packages)
  apt_install "${missing[@]}" "$@"
  python=$(find_python) || fail "No usable Python: it must be CPython 3.11 or newer, with venv and headers." \
    "Looked at: ${PYTHON:-python3, python3.14 to python3.11, /usr/bin/python3}" \
    "To use another one: PYTHON=/path/to/python $0"
  make_venv "$tools" || fail "The virtual environment $tools could not be made."
  [ -x "$tools/bin/nox" ] || quietly "$tools/bin/python" -m pip install 'uv>=0.9' 'nox>=2025.5' ||
    fail "uv and nox could not be installed; the lines above give the reason."
  export PYTHON=$python
}

# A session of noxfile.py, by its name and options of nox.
nox() { "$tools/bin/nox" --non-interactive -f noxfile.py -s "$@"; }
