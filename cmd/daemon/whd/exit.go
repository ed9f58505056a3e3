package whd

import (
	"errors"

	"github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/daemon/config"
	"github.com/bizhook/whd/daemon/datadir"
	"github.com/bizhook/whd/daemon/fault"
)

// exits is the table of exit codes.
var exits = []cli.Exit{
	{Code: 0, Meaning: "success", Is: func(err error) bool { return err == nil }},
	{Code: 1, Meaning: "failure"},
	{Code: 2, Meaning: "usage or configuration error", Is: isUsage},
	{Code: 3, Meaning: "the store is unavailable, or the data directory is in use", Is: isUnavailable},
}

// isUnavailable reports whether an error is that of a store that cannot be used now.
func isUnavailable(err error) bool {
	return fault.Is(err, fault.Unavailable) || errors.Is(err, datadir.ErrInUse)
}

// isUsage reports whether an error is a mistake of the user. Invalid names and
// passwords are included.
func isUsage(err error) bool {
	_, ofSettings := errors.AsType[*config.UsageError](err)
	return ofSettings || cli.IsUsage(err) || fault.Is(err, fault.Invalid)
}
