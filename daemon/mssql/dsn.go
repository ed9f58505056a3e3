package mssql

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/microsoft/go-mssqldb/integratedauth/krb5"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// errDSN does not contain the connection string, which contains a password.
var errDSN = errors.New("mssql: the connection string must be a URL such as " +
	"sqlserver://user:password@host?database=name, with special characters escaped")

// option is an option of a connection string. Names and values are those of the driver.
type option struct{ name, value string }

// defaultOptions are options that apply unless the connection string sets them.
var defaultOptions = []option{
	{"app name", "whd"},
	{"packet size", "32767"}, // the maximum; encrypted connections use 16383
	{"encrypt", "true"},
}

// fixedOptions are options that this package requires.
var fixedOptions = []option{
	{"timezone", "UTC"},          // dates have no zone
	{"guid conversion", "false"}, // appendGuid expects the server's byte order
	{"log", "0"},                 // do not log statements and values
}

// completeDSN adds the default and fixed options to a connection string, and others that
// replace its own. entra reports whether the login uses Microsoft Entra.
func completeDSN(dsn string, replaced ...option) (full string, entra bool, err error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme != "sqlserver" || u.Host == "" {
		return "", false, errDSN
	}
	parameters, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", false, errDSN
	}
	options := make(url.Values)
	for name, values := range parameters {
		name = strings.ToLower(name)
		if options.Has(name) {
			return "", false, errDSN
		}
		options[name] = values
	}
	for _, o := range defaultOptions {
		if !options.Has(o.name) {
			options.Set(o.name, o.value)
		}
	}
	for _, o := range slices.Concat(fixedOptions, replaced) {
		options.Set(o.name, o.value)
	}
	for _, name := range []string{"certificate", "servercertificate", "krb5-configfile", "krb5-keytabfile"} {
		if file := options.Get(name); file != "" {
			if _, err := os.Stat(file); err != nil {
				return "", false, fmt.Errorf("mssql: the option %s of the connection string: %w", name, err)
			}
		}
	}
	u.RawQuery = options.Encode()
	full = u.String()
	if options.Get("authenticator") == "krb5" {
		err = checkKerberos(full)
	}
	return full, options.Get("fedauth") != "", err
}

// checkKerberos reports options that the driver would only reject when it connects. The
// cache of tickets may be created later, by another program.
func checkKerberos(dsn string) error {
	c, err := msdsn.Parse(dsn)
	if err != nil {
		return nil // the driver reports it
	}
	_, err = krb5.AuthProviderFunc.GetIntegratedAuthenticator(c)
	if err == nil || errors.Is(err, krb5.ErrCredCacheFileDoesNotExist) {
		return nil
	}
	return fmt.Errorf("mssql: the Kerberos options of the connection string: %w", err)
}

// CheckDSN validates a connection string without connecting. The error does not contain
// the string, because a password may be in any part of a malformed one.
func CheckDSN(dsn string) error {
	if _, err := newConnector(dsn); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "mssql: "))
	}
	return nil
}

// SameDatabase reports whether two connection strings name the same database of the same
// server. Logins may differ.
func SameDatabase(a, b string) bool {
	x, errX := msdsn.Parse(a)
	y, errY := msdsn.Parse(b)
	return errX == nil && errY == nil && x.Database != "" && databaseKey(x) == databaseKey(y)
}

func databaseKey(c msdsn.Config) string {
	const defaultPort = 1433
	if c.Port == 0 && c.Instance == "" {
		c.Port = defaultPort
	}
	return strings.ToLower(fmt.Sprint(c.Host, " ", c.Instance, " ", c.Port, " ", c.Database))
}
