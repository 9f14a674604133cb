# Shared by .ci/demo, .ci/test and .ci/wheel: system packages, the interpreter, the virtual environment.
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

# Silent when it works; the whole output when it does not.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

# The C++ compiler that CMake would take.
compiler() { command -v "${CXX:-c++}" || command -v g++ || command -v clang++; }

has_header() {
  local cxx
  cxx=$(compiler) && "$cxx" -E -include "$1" -x c++ /dev/null >/dev/null 2>&1
}

# An interpreter that can build and install the package: CPython 3.11 or newer with venv, pip and
# its headers. The real path is printed, since a shim (pyenv) may answer differently elsewhere.
python_probe='
import ensurepip, os, sys, sysconfig, venv
assert sys.implementation.name == "cpython" and sys.version_info >= (3, 11)
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
print(sys.executable)
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

# What the build lacks, as Debian names it. An interpreter chosen by hand is the chooser's affair.
missing_packages() {
  compiler >/dev/null || echo g++
  has_header curl/curl.h || echo libcurl4-openssl-dev
  has_header zlib.h || echo zlib1g-dev
  [ -n "${PYTHON:-}" ] || find_python >/dev/null || printf '%s\n' python3-dev python3-venv
}

# Installs the named Debian packages; with apt or the rights missing, says what to install instead.
apt_install() {
  local -a root=()
  [ $# -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "This needs packages, and there is no apt-get here to install them." \
    "Install what these are called on your system, then run it again:" "  $*"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "This needs packages, and you are neither root nor have sudo." \
      "Ask for this, then run it again:" "  apt-get install $*"
    root=(sudo)
  fi
  note "Installing $* ..."
  quietly "${root[@]}" apt-get -q update || note "apt-get update failed; trying with the lists at hand."
  # In run level 1 Debian's maintainer scripts start no service (nginx would take port 80).
  quietly "${root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
    apt-get -q -y --no-install-recommends install "$@" ||
    fail "apt-get could not install what is missing." "Install by hand: $*"
}

# The build's system packages; sets `python`.
install_build_packages() {
  local -a missing
  mapfile -t missing < <(missing_packages)
  apt_install "${missing[@]}"
  python=$(find_python) || fail "No usable Python: it must be CPython 3.11 or newer, with venv and headers." \
    "Looked at: ${PYTHON:-python3, python3.14 to python3.11, /usr/bin/python3}" \
    "PYTHON=/path/to/python $0 takes another one."
}

# What an installed package is made from, and where: a change of any of it means a new install.
fingerprint() {
  {
    pwd -P
    "$python" -VV
    find README.md docs/LICENSE pyproject.toml CMakeLists.txt cpp/CMakeLists.txt cpp/cmake \
      cpp/src python/bindings python/tradingdata \
      -type f ! -name '*.pyc' -print0 | sort -z | xargs -0 sha256sum
  } | sha256sum | cut -d' ' -f1
}

# Makes the virtual environment $1 if there is none that fits this place and this interpreter.
make_venv() {
  local home
  home="$(pwd -P)/$1 by $python"
  [ "$(cat "$1/.home" 2>/dev/null)" = "$home" ] && "$1/bin/python" -c '' 2>/dev/null && return
  "$python" -m venv --clear "$1" && printf '%s\n' "$home" >"$1/.home"
}

# Installs the package as it stands, with extras ("" or "[test,dev]"), into the virtual environment
# $1. One wheel serves every environment, and nothing is done where nothing changed.
install_package() {
  local venv=$1 extras=$2 wanted wheels wheel
  wanted=$(fingerprint)
  if [ "$(cat "$venv/.fingerprint" 2>/dev/null)" = "$wanted $extras" ] &&
    "$venv/bin/python" -c 'import tradingdata' 2>/dev/null; then
    return
  fi
  make_venv "$venv" || return
  rm -f "$venv/.fingerprint"
  wheels=build/wheels/$wanted
  if ! compgen -G "$wheels/*.whl" >/dev/null; then
    note "Building tradingdata ..."
    rm -rf build/wheels
    quietly "$venv/bin/python" -m pip wheel --no-deps --wheel-dir "$wheels" . || return
  fi
  wheel=$(compgen -G "$wheels/*.whl")
  note "Installing tradingdata$extras into $venv ..."
  quietly "$venv/bin/python" -m pip install --force-reinstall --no-deps "$wheel" || return
  quietly "$venv/bin/python" -m pip install "$wheel$extras" || return
  printf '%s\n' "$wanted $extras" >"$venv/.fingerprint"
}
