package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// version and commit are set when a program is linked (see the Makefile).
// Where they are not, what the Go tool noted of its own accord is used.
var version, commit string

// Version is the program's version.
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

// PrintVersion writes what the program was built from and with.
func PrintVersion(w io.Writer, program string) error {
	from := commit
	if build, read := debug.ReadBuildInfo(); read && from == "" {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				from = s.Value
			}
		}
	}
	_, err := fmt.Fprintf(w, "%s %s\ncommit %s\n%s %s/%s\n", program, Version(), cmp.Or(from, "unknown"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
