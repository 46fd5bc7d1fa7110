//! Links libelf and zlib statically, so that a compiled program needs neither, even as a module of Python. With the
//! feature `ebpf-vendored`, libbpf-sys does that.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(all(feature = "ebpf", not(feature = "ebpf-vendored")))]
    ebpf::link();
}

#[cfg(all(feature = "ebpf", not(feature = "ebpf-vendored")))]
mod ebpf {
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    /// The static libraries that libbpf needs, and Debian's packages that have them.
    const NEEDED: [(&str, &str); 2] = [("libelf.a", "libelf-dev"), ("libz.a", "zlib1g-dev")];
    /// Some builds of libelf also compress by Zstandard.
    const ZSTD: (&str, &str) = ("libzstd.a", "libzstd-dev");
    const ERRORS: &str = "src/ebpf/elf_error.c";

    pub(crate) fn link() {
        if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
            return;
        }
        let folder = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
        // A folder that has the static libraries only: the linker takes the first library that it finds, shared or static.
        for (library, package) in NEEDED {
            copy(library, package, &folder);
        }
        let elf = fs::read(folder.join("libelf.a")).expect("was just copied");
        if elf.windows(5).any(|bytes| bytes == b"ZSTD_") {
            copy(ZSTD.0, ZSTD.1, &folder);
            println!("cargo::rustc-link-lib=zstd");
        }
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rerun-if-changed={ERRORS}");
        cc::Build::new().file(ERRORS).link_lib_modifier("+whole-archive").compile("elf_error");
    }

    /// Copies a library from where the C compiler finds it.
    fn copy(library: &str, package: &str, folder: &Path) {
        let compiler = cc::Build::new().try_get_compiler().unwrap_or_else(|error| panic!("the feature ebpf needs a C compiler: {error}"));
        let asked = compiler.to_command().arg(format!("-print-file-name={library}")).output();
        let found = asked.ok().and_then(|answer| String::from_utf8(answer.stdout).ok()).unwrap_or_default();
        // The compiler repeats the name of a library that it does not find.
        let found = Path::new(found.trim());
        assert!(found.is_absolute(), "the feature ebpf needs {library}, which the C compiler does not find (Debian: {package})");
        fs::copy(found, folder.join(library)).unwrap_or_else(|error| panic!("cannot copy {}: {error}", found.display()));
    }
}
