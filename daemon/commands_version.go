package daemon

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/bizhook/whd/daemon/sqlite"
)

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

func revision() string {
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

func printVersion(_ context.Context, c *call) error {
	engine, err := engineVersion()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "whd %s\ncommit %s\n%s %s/%s\nSQLite %s\n",
		Version(), revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH, engine)
	return err
}

// engineVersion asks the engine itself.
func engineVersion() (string, error) {
	conn, err := sqlite.Open(":memory:", sqlite.Options{})
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stmt, err := conn.Prepare("SELECT sqlite_version()")
	if err != nil {
		return "", err
	}
	if _, err := stmt.Step(); err != nil {
		return "", err
	}
	return stmt.Text(0), stmt.Reset()
}
