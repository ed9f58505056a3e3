package whd

import (
	"errors"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/fault"
)

// exits is the table of exit codes.
var exits = []cli.Exit{
	{Code: 0, Meaning: "success", Is: func(err error) bool { return err == nil }},
	{Code: 1, Meaning: "failure"},
	{Code: 2, Meaning: "usage or configuration error", Is: isUsage},
	{Code: 3, Meaning: "the store is unavailable", Is: func(err error) bool { return fault.Is(err, fault.Unavailable) }},
}

// isUsage reports whether an error is a mistake of the user. Invalid names and
// passwords are included.
func isUsage(err error) bool {
	_, ofSettings := errors.AsType[*config.UsageError](err)
	return ofSettings || cli.IsUsage(err) || fault.Is(err, fault.Invalid)
}
