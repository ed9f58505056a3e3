package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// version and commit are set by the linker (see the Makefile). Without them, the
// build information of the Go tool is used.
var version, commit string

// Version returns the program's version; "dev" if it is unknown.
func Version() string {
	if version != "" {
		return version
	}
	build, ok := debug.ReadBuildInfo()
	if !ok || build.Main.Version == "" || build.Main.Version == "(devel)" {
		return "dev"
	}
	return build.Main.Version
}

// PrintVersion writes the version, the commit, the Go version and the platform.
func PrintVersion(w io.Writer, program string) error {
	revision := commit
	if build, ok := debug.ReadBuildInfo(); ok && revision == "" {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	_, err := fmt.Fprintf(w, "%s %s\ncommit %s\n%s %s/%s\n", program, Version(), cmp.Or(revision, "unknown"),
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
