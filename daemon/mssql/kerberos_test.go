package mssql_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

const krb5Config = "[libdefaults]\n default_realm = ERP.EXAMPLE\n[realms]\n ERP.EXAMPLE = {\n  kdc = 127.0.0.1:1\n }\n"

// TestKerberosOptions checks that the options of Kerberos are accepted, and that errors
// name the option and the file but not the password.
func TestKerberosOptions(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config, keytab := file("krb5.conf", krb5Config), file("whd.keytab", "")
	for _, c := range []struct {
		user    *url.Userinfo
		options map[string]string
		want    []string // in the error; none if the options are accepted
	}{
		{url.UserPassword("whd", "canary"), map[string]string{"krb5-configfile": config}, nil},
		{url.User("whd"), map[string]string{"krb5-configfile": config, "krb5-keytabfile": keytab}, nil},
		{url.User("whd"), map[string]string{"krb5-configfile": config, "krb5-keytabfile": keytab, "krb5-realm": "ERP.EXAMPLE", "krb5-dnslookupkdc": "false"}, nil},
		{nil, map[string]string{"krb5-configfile": config, "krb5-credcachefile": filepath.Join(dir, "created later")}, nil},
		{url.UserPassword("whd", "canary"), map[string]string{"krb5-configfile": "/missing/krb5.conf"}, []string{"krb5-configfile", "/missing/krb5.conf"}},
		{url.User("whd"), map[string]string{"krb5-configfile": config, "krb5-keytabfile": "/missing/whd.keytab"}, []string{"krb5-keytabfile", "/missing/whd.keytab"}},
		{nil, map[string]string{"krb5-configfile": config, "krb5-keytabfile": keytab}, []string{"Kerberos", "user id is required"}},
		{url.UserPassword("whd", "canary"), map[string]string{"krb5-configfile": file("no realm", "[libdefaults]\n")}, []string{"Kerberos", "krb5-realm is required"}},
	} {
		u := url.URL{Scheme: "sqlserver", Host: "db.erp.example", User: c.user}
		options := url.Values{"database": {"erp"}, "authenticator": {"krb5"}}
		for name, value := range c.options {
			options.Set(name, value)
		}
		u.RawQuery = options.Encode()
		err := mssql.CheckDSN(u.String())
		if (err != nil) != (c.want != nil) {
			t.Errorf("%q: %v", c.options, err)
		}
		for _, want := range c.want {
			if err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary")) {
				t.Errorf("%q: %v, want %q", c.options, err, want)
			}
		}
	}
}

// TestKerberosConnects checks that a connection uses the Kerberos library: the error is
// that of the key distribution centre, which does not exist.
func TestKerberosConnects(t *testing.T) {
	u, err := url.Parse(mssqltest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "krb5.conf")
	if err := os.WriteFile(config, []byte(krb5Config), 0o600); err != nil {
		t.Fatal(err)
	}
	options := u.Query()
	options.Set("authenticator", "krb5")
	options.Set("krb5-configfile", config)
	u.RawQuery = options.Encode()
	u.User = url.UserPassword("whd", "canary")
	s, err := mssql.Open(mssql.Config{DSN: u.String(), Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "KDC") || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
}
