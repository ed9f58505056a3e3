package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// version and commit are set when the program is linked (see the Makefile).
var version, commit string

// versionText is the version, or what the Go tool noted of its own accord.
func versionText() string {
	if version != "" {
		return version
	}
	if build, ok := debug.ReadBuildInfo(); ok && build.Main.Version != "" {
		return build.Main.Version
	}
	return "dev"
}

// version is whctl version. It draws on nothing but the binary.
func (p *program) version(*cli.Context) error {
	_, err := fmt.Fprintf(p.stdout, "whctl %s\ncommit %s\n%s %s/%s\n",
		versionText(), cmp.Or(commit, "unknown"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
