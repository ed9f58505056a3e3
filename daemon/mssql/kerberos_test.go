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
	config := file("krb5.conf", krb5Config)
	keytab := file("whd.keytab", "")
	withPassword := url.UserPassword("whd", "canary")
	withKeytab := url.User("whd")
	for _, c := range []struct {
		user    *url.Userinfo
		options map[string]string
		want    []string // parts of the error; none if the options are accepted
	}{
		{withPassword, map[string]string{"krb5-configfile": config}, nil},
		{
			withKeytab,
			map[string]string{"krb5-configfile": config, "krb5-keytabfile": keytab},
			nil,
		},
		{
			withKeytab,
			map[string]string{
				"krb5-configfile":   config,
				"krb5-keytabfile":   keytab,
				"krb5-realm":        "ERP.EXAMPLE",
				"krb5-dnslookupkdc": "false",
			},
			nil,
		},
		{
			nil,
			map[string]string{
				"krb5-configfile":    config,
				"krb5-credcachefile": filepath.Join(dir, "created later"),
			},
			nil,
		},
		{
			withPassword,
			map[string]string{"krb5-configfile": "/missing/krb5.conf"},
			[]string{"krb5-configfile", "/missing/krb5.conf"},
		},
		{
			withKeytab,
			map[string]string{
				"krb5-configfile": config,
				"krb5-keytabfile": "/missing/whd.keytab",
			},
			[]string{"krb5-keytabfile", "/missing/whd.keytab"},
		},
		{
			nil,
			map[string]string{"krb5-configfile": config, "krb5-keytabfile": keytab},
			[]string{"Kerberos", "user id is required"},
		},
		{
			withPassword,
			map[string]string{"krb5-configfile": file("no realm", "[libdefaults]\n")},
			[]string{"Kerberos", "krb5-realm is required"},
		},
	} {
		u := url.URL{Scheme: "sqlserver", Host: "db.erp.example", User: c.user}
		options := url.Values{"database": {"erp"}, "authenticator": {"krb5"}}
		for name, value := range c.options {
			options.Set(name, value)
		}
		u.RawQuery = options.Encode()
		err := mssql.CheckDSN(u.String())
		if err == nil {
			if c.want != nil {
				t.Errorf("the options %q: got no error, want %q", c.options, c.want)
			}
			continue
		}
		if c.want == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("the options %q: got error %v, want %q and no password", c.options, err, c.want)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the options %q: got error %v, want %q in it", c.options, err, want)
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
	err = s.Ping(t.Context())
	if err == nil || !strings.Contains(err.Error(), "KDC") {
		t.Fatalf("Ping: got error %v, want one of the KDC", err)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("Ping: the error contains the password: %v", err)
	}
}
