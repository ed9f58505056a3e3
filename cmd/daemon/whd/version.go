package whd

import (
	"fmt"
	"runtime"

	urfave "github.com/urfave/cli/v2"

	"github.com/bizhook/whd/daemon"
	"github.com/bizhook/whd/daemon/sqlite"
)

// versions is the command version.
type versions struct{ *base }

func (p versions) commands() []*urfave.Command {
	return []*urfave.Command{{Name: "version", Usage: "print the version of the program and of what it is built with", Action: p.version}}
}

func (p versions) version(*urfave.Context) error {
	engine, err := engineVersion()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "whd %s\ncommit %s\n%s %s/%s\nSQLite %s\n",
		daemon.Version(), daemon.Commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH, engine)
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
