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
  "$zig/bin/python" -m ziglang version >/dev/null 2>&1 || quietly "$zig/bin/python" -m pip install "$(sed -n '/^name = "ziglang"/{n;s/version = "\(.*\)"/ziglang==\1/p}' uv.lock)" ||
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

# Builds what is linked into a wheel for the platform $1, in build/static, with zig or, for `native`,
# with this machine's compiler; again when a version is raised.
static_libraries() {
  local folder=$PWD/build/static/$1 system=${1/glibc/linux} wanted
  local -a with=()
  wanted=$(cat .ci/platforms/libraries.py "${LIBRARIES:-.ci/platforms/libraries.toml}" .ci/platforms/lib.sh | sha256sum)
  [ "$(cat "$folder/.made-by" 2>/dev/null)" != "$wanted" ] || return 0
  if [ "$1" = native ]; then
    system=
  else
    cross_toolchain "$1"
    with=(PATH="$toolchain/bin:$PATH" CMAKE_TOOLCHAIN_FILE="$toolchain/toolchain.cmake" TRADINGDATA_STATIC_CURL="$folder")
  fi
  # shellcheck disable=SC2086 # without a system, for this one
  env "${with[@]}" "$python" .ci/platforms/libraries.py build "$folder" ${system/musl/linux} || return
  [ "$1" = native ] || cp "$zig"/lib/python*/site-packages/ziglang/lib/libcxx/LICENSE.TXT "$folder/notices/libc++.txt"
  printf '%s\n' "$wanted" >"$folder/.made-by"
}
