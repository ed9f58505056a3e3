package daemon

import "runtime/debug"

// version and commit are set when the program is linked (see the Makefile).
// Where they are not, what the Go tool noted of its own accord is used.
var version, commit string

// Version is the program's version, for the banner and the answers of the service.
func Version() string {
	if version != "" {
		return version
	}
	build, read := debug.ReadBuildInfo()
	if !read || build.Main.Version == "" || build.Main.Version == "(devel)" {
		return "dev"
	}
	return build.Main.Version
}

// Commit is the commit that the program was built from, as far as that is known.
func Commit() string {
	if commit != "" {
		return commit
	}
	if build, read := debug.ReadBuildInfo(); read {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
