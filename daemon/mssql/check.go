package mssql

// Check reports what is wrong with a connection string, without connecting. The
// error does not repeat the string.
func Check(dsn string) error {
	_, err := newConnector(dsn)
	return err
}
