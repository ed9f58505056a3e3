package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/mssql"
)

// checkAddress accepts host:port with a numeric port.
func checkAddress(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%q is not an address and port such as 127.0.0.1:5050 or :5050", text)
	}
	return nil
}

// checkLoopback accepts a loopback address with a port.
func checkLoopback(text string) error {
	if err := checkAddress(text); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(text)
	if strings.EqualFold(host, "localhost") {
		return nil
	}
	if address, err := netip.ParseAddr(host); err == nil && address.Unmap().IsLoopback() {
		return nil
	}
	return fmt.Errorf("%q is not a loopback address and port such as 127.0.0.1:5051", text)
}

// checkBasePath accepts an absolute path that needs no escaping.
func checkBasePath(text string) error {
	hasSlashes := strings.HasPrefix(text, "/") && !strings.HasSuffix(text, "/")
	if !hasSlashes || strings.ContainsAny(text, "?#% ") {
		return fmt.Errorf("%q is not a path such as /erp, with a leading and no trailing slash", text)
	}
	return nil
}

// checkHostURL accepts the base URL of a service, without credentials and query.
func checkHostURL(text string) error {
	invalid := fmt.Errorf("%q is not a URL such as http://erp.example:5050", text)
	u, err := url.Parse(text)
	if err != nil {
		return invalid
	}
	hasExtras := u.User != nil || u.RawQuery != "" || u.Fragment != ""
	if !isHTTP(u) || u.Hostname() == "" || hasExtras {
		return invalid
	}
	return nil
}

func isHTTP(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }

func checkStore(text string) error { return checkDatabase(Embedded, text) }

func checkERP(text string) error { return checkDatabase(Demo, text) }

// checkDatabase accepts the name of a file and connection strings. Its errors do not quote
// the text, which may be a connection string in another form, with a password.
func checkDatabase(file DSN, text string) error {
	if text == string(file) {
		return nil
	}
	if !strings.HasPrefix(text, "sqlserver://") {
		return fmt.Errorf("it must be %s, or a connection string such as"+
			" sqlserver://user:password@host?database=name", file)
	}
	return mssql.CheckDSN(text)
}

// maxSchema is the maximum length of a name in SQL Server.
const maxSchema = 128

// checkSchema accepts the name of a schema on SQL Server.
func checkSchema(text string) error {
	hasLength := text != "" && utf8.RuneCountInString(text) <= maxSchema
	if !hasLength || strings.TrimSpace(text) != text || strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%q is not the name of a schema such as dbo", text)
	}
	return nil
}
