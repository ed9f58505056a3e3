package daemon

// CheckTable is used by the tests of daemon_test, too.
var CheckTable = checkTable
