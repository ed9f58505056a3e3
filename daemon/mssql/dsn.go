package mssql

import (
	"errors"
	"net/url"
	"strings"
)

// errDSN does not repeat the text, which holds a password.
var errDSN = errors.New("mssql: the connection string must be a URL such as sqlserver://user:password@host?database=name, with special characters escaped")

// usual are the connection's options that hold unless the connection string
// says otherwise. Options as the driver reads them.
var usual = []struct{ name, value string }{
	{"app name", "whd"},
	{"packet size", "32767"}, // the largest; an encrypted connection gets 16383
	{"encrypt", "true"},
}

// fixed are those that the code relies on.
var fixed = []struct{ name, value string }{
	{"timezone", "UTC"},          // dates have no zone, and are not to get one
	{"guid conversion", "false"}, // appendGuid knows the server's order of bytes
	{"log", "0"},                 // the driver would print statements and values
}

// complete adds to a connection string what it leaves open. It reports whether
// the login is one of Microsoft Entra.
func complete(dsn string) (full string, entra bool, err error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme != "sqlserver" || u.Host == "" {
		return "", false, errDSN
	}
	given, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", false, errDSN
	}
	options := make(url.Values)
	for name, values := range given {
		if name = strings.ToLower(name); options.Has(name) {
			return "", false, errDSN
		}
		options[name] = values
	}
	for _, o := range usual {
		if !options.Has(o.name) {
			options.Set(o.name, o.value)
		}
	}
	for _, o := range fixed {
		options.Set(o.name, o.value)
	}
	u.RawQuery = options.Encode()
	return u.String(), options.Get("fedauth") != "", nil
}

// CheckDSN reports what is wrong with a connection string, without connecting.
// The error does not repeat the string, which may hold a password wherever a
// mistake has put it.
func CheckDSN(dsn string) error {
	if _, err := newConnector(dsn); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "mssql: "))
	}
	return nil
}
