package daemon

// Parts of the tests of this package that those of daemon_test use.
var (
	Update     = update
	CheckTable = checkTable
)
