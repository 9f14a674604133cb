# Shared by the commands for other platforms: compilers by zig (PyPI's ziglang), what is linked into
# wheels. Sourced with the repository's root as the working directory.
. .ci/lib.sh

zig=.venv-zig
export ZIG_GLOBAL_CACHE_DIR=$PWD/build/zig ZIG_LOCAL_CACHE_DIR=$PWD/build/zig

# Per platform: the target of zig, then system and processor as CMake calls them.
declare -A cross_target=(
  [glibc-x86_64]="x86_64-linux-gnu.2.17 Linux x86_64"
  [glibc-aarch64]="aarch64-linux-gnu.2.17 Linux aarch64"
  [musl-x86_64]="x86_64-linux-musl Linux x86_64"
  [musl-aarch64]="aarch64-linux-musl Linux aarch64"
  [windows-x86_64]="x86_64-windows-gnu Windows AMD64"
  [macos-x86_64]="x86_64-macos Darwin x86_64"
  [macos-arm64]="aarch64-macos Darwin arm64"
)

# Installs the packages that the build and $@ lack, CMake and Ninja, and zig.
install_compilers() {
  install_tools "$@"
  quietly nox tools || fail "The build tools could not be installed."
  PATH=$PWD/$tools/bin:$PATH
  make_venv "$zig"
  "$zig/bin/python" -m ziglang version >/dev/null 2>&1 || quietly "$zig/bin/python" -m pip install 'ziglang>=0.15' ||
    fail "zig could not be installed: pip install ziglang"
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

# Writes the compilers of platform $1 and a CMake toolchain file; sets `toolchain` to its folder.
cross_toolchain() {
  local triple system processor name python format=''
  read -r triple system processor <<<"${cross_target[$1]}"
  [ "$system" != Linux ] || format='set(CMAKE_EXECUTABLE_FORMAT ELF)'
  toolchain=$PWD/build/cross/$1
  python=$PWD/$zig/bin/python
  mkdir -p "$toolchain/bin"
  # zig instruments C code for its sanitizer by default. To Windows' compiler it passes an argument
  # that goes unused.
  # shellcheck disable=SC2016 # the wrapper expands them
  for name in cc c++; do
    printf '#!/bin/sh\nexec "%s" -m ziglang %s -target %s -fno-sanitize=all -Wno-unused-command-line-argument "-ffile-prefix-map=$PWD=." "$@"\n' \
      "$python" "$name" "$triple" >"$toolchain/bin/$name"
  done
  for name in ar ranlib rc; do
    printf '#!/bin/sh\nexec "%s" -m ziglang %s "$@"\n' "$python" "$name" >"$toolchain/bin/$name"
  done
  chmod +x "$toolchain"/bin/*
  cat >"$toolchain/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME $system)
set(CMAKE_SYSTEM_PROCESSOR $processor)
set(CMAKE_C_COMPILER $toolchain/bin/cc)
set(CMAKE_CXX_COMPILER $toolchain/bin/c++)
set(CMAKE_RC_COMPILER $toolchain/bin/rc)
foreach(tool AR RANLIB)
  string(TOLOWER \${tool} program)
  foreach(prefix CMAKE_ CMAKE_C_COMPILER_ CMAKE_CXX_COMPILER_)
    set(\${prefix}\${tool} $toolchain/bin/\${program})
  endforeach()
endforeach()
set(CMAKE_FIND_ROOT_PATH \$ENV{TRADINGDATA_STATIC_CURL})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
# CMake would link a program to identify the compiler, for which zig compiles a C++ library first.
foreach(language C CXX)
  set(CMAKE_\${language}_COMPILER_ID_RUN TRUE)
  set(CMAKE_\${language}_COMPILER_ID Clang)
  set(CMAKE_\${language}_COMPILER_VERSION 20.0)
  set(CMAKE_\${language}_COMPILER_FRONTEND_VARIANT GNU)
  set(CMAKE_\${language}_EXTENSIONS_COMPUTED_DEFAULT ON)
endforeach()
set(CMAKE_C_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_CXX_STANDARD_COMPUTED_DEFAULT 17)
${format}
END
}

# Unpacks Debian's current source package of $1 in $work. The lists of source packages are kept
# aside: the machine's own sources of apt stay as they are. apt checks the signatures.
debian_source() {
  local apt=$work/apt key=/usr/share/keyrings/debian-archive-keyring.gpg original
  local -a apt_here=(apt-get -q -o "Dir::State::lists=$apt/lists" -o "Dir::Etc::sourcelist=$apt/sources.list"
    -o Dir::Etc::sourceparts=- -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  if [ ! -f "$apt/sources.list" ]; then
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    # shellcheck disable=SC2016 # the fields are apt-get's
    apt-get indextargets --format '$(LABEL) $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
      sort -u | while read -r label site release component; do
        [[ $label != Debian* ]] ||
          printf 'deb-src [signed-by=%s] %s %s %s\n' "$key" "$site" "$release" "$component"
      done >"$apt/sources.list"
    quietly "${apt_here[@]}" update
  fi
  if ! (cd "$work" && "${apt_here[@]}" source "$1" >"$apt/log" 2>&1); then
    # A mirror may have the original of a security update before it has Debian's patches.
    original=$(compgen -G "$work/${1}_*.orig.tar.*[^c]") || fail "The source of $1 is not available:" "$(cat "$apt/log")"
    note "Debian's patches of $1 are not available; building the original release without them."
    tar -xf "$original" -C "$work"
  fi
}

# Builds what is linked into a wheel for the platform $1, in build/static. It stays in the wheel, so it
# is built again when Debian has a newer source.
static_libraries() {
  local folder=$PWD/build/static/$1 newest wanted
  newest=$(LC_ALL=C apt-cache policy libcurl4-openssl-dev libssl-dev zlib1g-dev libisal-dev 2>/dev/null | grep Candidate || true)
  wanted=$({
    cat .ci/platforms/static-curl .ci/platforms/lib.sh
    echo "${CURL_SOURCE:-} ${ISAL_SOURCE:-} $newest"
  } | sha256sum)
  [ "$(cat "$folder/.made-by" 2>/dev/null)" != "$wanted" ] || return 0
  rm -rf "$folder"
  if [ "$1" = native ]; then ./.ci/platforms/static-curl "$folder"; else ./.ci/platforms/static-curl "$folder" "$1"; fi
  printf '%s\n' "$wanted" >"$folder/.made-by"
}
