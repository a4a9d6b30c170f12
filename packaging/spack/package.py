# SPDX-License-Identifier: BSD-3-Clause
"""Lode as a package of Spack: copy this file to var/spack/repos/REPOSITORY/packages/lode/package.py of a repository of your own."""

from spack.package import *


class Lode(MesonPackage):
    """Reads the output of profilers and tracers (HPCToolkit databases, uftrace recordings, Zorka trace stores), verifies its
    integrity, and answers where the time went."""

    # A release adds its address and checksum: version("0.2.0", url=..., sha256=...). Until then, "spack dev-build lode@main" in the
    # directory of the sources, or "spack develop --path DIRECTORY lode@main" in an environment.
    version("main")

    variant("mpi", default=False, description="Build the plug-in for the MPI library of the environment")
    variant("libdeflate", default=True, description="Unpack trace stores with libdeflate, which is faster than zlib")
    variant("zstd", default=True, description="Compress exports with zstd")
    variant("lzma", default=True, description="Read kernel symbols of measurements")
    variant("symbols", default=True, description="Read names and lines of binaries")
    variant("sqlite", default=True, description="Build the catalogue of runs (lode runs)")

    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.7:", type="build")
    depends_on("expat")
    depends_on("zlib-api")
    depends_on("lz4")
    depends_on("pcre2@10.30:")
    depends_on("libdeflate", when="+libdeflate")
    depends_on("zstd", when="+zstd")
    depends_on("xz", when="+lzma")
    depends_on("elfutils", when="+symbols")
    depends_on("bzip2", when="+symbols")
    depends_on("sqlite@3.26:", when="+sqlite")
    depends_on("mpi", when="+mpi")
    # Plug-ins are for these two, and for what has the binary interface of one of them.
    requires("^openmpi", "^mpich", policy="one_of", when="+mpi")

    def meson_args(self):
        return [
            "-Dmpi=" + ("enabled" if "+mpi" in self.spec else "disabled"),
            "-Dlibdeflate=" + ("enabled" if "+libdeflate" in self.spec else "disabled"),
            "-Dzstd=" + ("enabled" if "+zstd" in self.spec else "disabled"),
            "-Dlzma=" + ("enabled" if "+lzma" in self.spec else "disabled"),
            "-Dsymbols=" + ("enabled" if "+symbols" in self.spec else "disabled"),
            "-Dsqlite=" + ("enabled" if "+sqlite" in self.spec else "disabled"),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.lode)("version")
