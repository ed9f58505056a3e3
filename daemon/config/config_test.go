package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// input contains the sources of one test case: arguments, environment and files.
type input struct {
	args  string // separated by spaces
	env   []string
	files map[string]string
}

func (in input) load() (Config, error) {
	flags, err := parseFlags(strings.Fields(in.args))
	if err != nil {
		return Config{}, err
	}
	return load(sources{
		flags:    flags,
		env:      append([]string{"HOME=/home/erp"}, in.env...),
		readFile: in.readFile,
		platform: platform{os: "linux"},
	})
}

func (in input) readFile(name string) ([]byte, error) {
	text, found := in.files[name]
	if !found {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

// file returns the files of an input with one settings file.
func file(text string) map[string]string { return map[string]string{"whd.toml": text} }

func TestPrecedenceOfSources(t *testing.T) {
	const (
		platformFile    = "/etc/whd/whd.toml"
		standardAddress = "127.0.0.1:5050"
	)
	toml := file("listen = \"file:1\"\n[http]\nmax_requests = 7\n")
	platformOnly := map[string]string{platformFile: "listen = 'etc:1'"}
	cases := []struct {
		name   string
		in     input
		listen string
		origin Origin
	}{
		{"default", input{}, standardAddress, "default"},
		{"file", input{args: "--config whd.toml", files: toml}, "file:1", "file whd.toml:1"},
		{
			"file by variable",
			input{env: []string{"WHD_CONFIG=whd.toml"}, files: toml},
			"file:1", "file whd.toml:1",
		},
		{
			"variable over file",
			input{args: "--config whd.toml", env: []string{"WHD_LISTEN=variable:2"}, files: toml},
			"variable:2", "variable WHD_LISTEN",
		},
		{
			"flag over all",
			input{
				args:  "--listen flag:3 --config=whd.toml",
				env:   []string{"WHD_LISTEN=variable:2"},
				files: toml,
			},
			"flag:3", "flag --listen",
		},
		{"last of two flags", input{args: "--listen a:1 --listen=b:2"}, "b:2", "flag --listen"},
		{
			"file at the platform's path",
			input{files: platformOnly},
			"etc:1", "file /etc/whd/whd.toml:1",
		},
		{
			"named file instead of the platform's",
			input{args: "--config whd.toml", files: map[string]string{
				platformFile: "listen = 'etc:1'",
				"whd.toml":   "listen = 'file:1'",
			}},
			"file:1", "file whd.toml:1",
		},
		{
			"file with a mark of UTF-8",
			input{args: "--config whd.toml", files: map[string]string{"whd.toml": "\xef\xbb\xbflisten = 'file:1'"}},
			"file:1", "file whd.toml:1",
		},
		{
			"empty --config disables the file",
			input{args: "--config=", files: platformOnly},
			standardAddress, "default",
		},
		{
			"empty variable counts as unset",
			input{env: []string{"WHD_LISTEN="}},
			standardAddress, "default",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.in.load()
			if err != nil {
				t.Fatal(err)
			}
			if got.Listen != c.listen || got.Origin("listen") != c.origin {
				t.Errorf("got %q from %q, want %q from %q", got.Listen, got.Origin("listen"), c.listen, c.origin)
			}
		})
	}
}

// valuesByName are values other than the default, for settings without one in valuesByKind.
var valuesByName = map[string]string{
	"config":                     "whd.toml",
	"listen":                     "[::1]:80",
	"store":                      "sqlserver://sa:canary@db?database=erp",
	"erp":                        "sqlserver://sa:canary@db?database=erp",
	"erp.read_dsn":               "sqlserver://sa:canary@replica?database=erp",
	"store.read_dsn":             "sqlserver://sa:canary@replica?database=erp",
	"query.total":                "asked",
	"log.level":                  "debug",
	"log.requests":               "never",
	"log.format":                 "json",
	"http.base_path":             "/erp",
	"auth.queries":               "anonymous",
	"metrics.listen":             ":9090",
	"admin.listen":               "127.0.0.1:5051",
	"trace.endpoint":             "http://127.0.0.1:4318",
	"http.public_url":            "https://erp.example/erp",
	"webhooks.host_url":          "http://erp.example:5050",
	"erp.version_source":         "dbo.SY_System.Version",
	"erp.builtin":                "none",
	"erp.outbox":                 "whd.WH_Outbox",
	"webhooks.publish":           "anonymous",
	"webhooks.dates":             "iso",
	"webhooks.proxy":             "http://canary:canary@proxy.example:3128",
	"webhooks.client_cert_hosts": "shop.example",
	"compat":                     "servicestack-5",
	"http.hosts":                 "erp.example,erp",
	"http.body_memory":           "2MiB",
	"http.reply_memory":          "32MiB",
	"webhooks.memory":            "2MiB",
	"changes.keep_size":          "2MiB",
	"erp.spill":                  "64MiB",
}

// valuesByKind are values other than the default, by the kind of the setting.
var valuesByKind = map[string]string{
	"text":               "x",
	"share":              "0.25",
	"secret":             "s3cret-x",
	"number":             "17",
	"true or false":      "true",
	"duration":           "90m",
	"size":               "2KiB",
	"networks":           "10.0.0.0/8,::1/128",
	"networks and names": "10.0.0.0/8,corp.example",
	"origins":            "https://shop.example,http://localhost:3000",
	"rate":               "20/s+100",
	"names":              "job.created,job.closed",
	"durations":          "5s,1m",
	"paths":              "/a/kinds,/b.toml",
	"name=value pairs":   "SO_Totals=v_SO_Totals",
	"time zone":          "UTC",
}

// TestEverySettingInEverySource sets each setting in each source and checks its value.
func TestEverySettingInEverySource(t *testing.T) {
	for _, s := range Settings() {
		text := cmp.Or(valuesByName[s.Name], valuesByKind[s.kind().name])
		t.Run(s.Name, func(t *testing.T) { checkEverySource(t, s, text) })
	}
}

// TestFormerSettings reads former settings, which count if those in their place are not set.
func TestFormerSettings(t *testing.T) {
	// values are the settings that replace others.
	type values struct {
		erp, readDSN string
		connections  int
		lockTimeout  time.Duration
	}
	for _, c := range []struct {
		args   string
		want   values
		former []string // settings with an effect
	}{
		{
			"",
			values{"demo", "", 32, 10 * time.Second},
			nil,
		},
		{
			"--store sqlite --store-lock-timeout 1s",
			values{"demo", "", 32, time.Second},
			nil,
		},
		{
			"--store sqlserver://db",
			values{"sqlserver://db", "", 32, 10 * time.Second},
			[]string{"store"},
		},
		{
			"--store sqlserver://db --erp demo --store-max-connections 7",
			values{"demo", "", 7, 10 * time.Second},
			nil,
		},
		{
			"--store sqlserver://db --erp sqlserver://erp --store-lock-timeout 1s",
			values{"sqlserver://erp", "", 32, time.Second},
			[]string{"store.lock_timeout"},
		},
		{
			"--store sqlserver://db --config whd.toml --store-max-connections 7",
			values{"sqlserver://db", "sqlserver://replica", 7, 10 * time.Second},
			[]string{"store", "store.read_dsn", "store.max_connections"},
		},
		{
			"--erp sqlserver://erp --erp-max-connections 8 --store-max-connections 7" +
				" --erp-lock-timeout 2s --store-lock-timeout 1s",
			values{"sqlserver://erp", "", 8, 2 * time.Second},
			nil,
		},
	} {
		in := input{args: c.args, files: file("[store]\nread_dsn = 'sqlserver://replica'")}
		loaded, err := in.load()
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		e := loaded.ERP
		got := values{string(e.DSN), string(e.ReadDSN), e.MaxConnections, e.LockTimeout}
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.args, got, c.want)
		}
		var former []string
		for _, f := range loaded.Start.Former {
			former = append(former, f.Setting)
		}
		if !slices.Equal(former, c.former) {
			t.Errorf("%s: got the former settings %q, want %q", c.args, former, c.former)
		}
	}
}

// required are the variables without which a setting cannot be set.
var required = map[string]string{
	"tls.cert":       "TLS_KEY=other",
	"tls.key":        "TLS_CERT=other",
	"tls.password":   "TLS_CERT=other.pfx",
	"store.read_dsn": "STORE=sqlserver://db",
	"erp.read_dsn":   "ERP=sqlserver://db",
	"erp.outbox":     "ERP=sqlserver://db",
	"demo_activity":  "DEMO=true",

	"webhooks.proxy_resolves":    "WEBHOOKS_PROXY=http://proxy",
	"webhooks.client_cert":       "WEBHOOKS_CLIENT_KEY=other",
	"webhooks.client_key":        "WEBHOOKS_CLIENT_CERT=other",
	"webhooks.client_cert_hosts": "WEBHOOKS_CLIENT_CERT=a WEBHOOKS_CLIENT_KEY=b",
}

// checkEverySource sets a setting to a text in each source that can have it.
func checkEverySource(t *testing.T, s Setting, text string) {
	t.Helper()
	var want Config
	if err := s.assign(&want, text); err != nil {
		t.Fatal(err)
	}
	for _, in := range sourcesOf(s, text) {
		for _, variable := range strings.Fields(required[s.Name]) {
			in.env = append(in.env, "WHD_"+variable)
		}
		got, err := in.load()
		if err != nil {
			t.Fatalf("%v: %v", in, err)
		}
		if g, w := s.into(&got), s.into(&want); !reflect.DeepEqual(g, w) {
			t.Errorf("%v: got %v, want %v", in, s.text(&got), s.text(&want))
		}
		if got.Origin(s.Name) == byDefault {
			t.Errorf("%v: the origin is the default", in)
		}
	}
}

// sourcesOf returns inputs that each set a setting to a text in another source.
func sourcesOf(s Setting, text string) []input {
	files := map[string]string{"whd.toml": "", "secret": text + "\n"}
	inputs := []input{{env: []string{s.Variable() + "=" + text}, files: files}}
	name := s.Flag()
	if s.secret() {
		name = strings.TrimSuffix(name, "-file")
		inputs = append(inputs,
			input{args: "--" + name + "-file secret", files: files},
			input{env: []string{s.Variable() + "_FILE=secret"}, files: files})
	}
	if !s.inFileOnly() {
		inputs = append(inputs, input{args: "--" + name + "=" + text, files: files})
	}
	if s.notInFile {
		return inputs
	}
	for _, key := range []string{s.Name, s.key} {
		if key != "" {
			toml := file(key + " = '" + text + "'")
			inputs = append(inputs, input{args: "--config whd.toml", files: toml})
		}
	}
	return inputs
}

func TestTOMLTypes(t *testing.T) {
	got, err := input{args: "--config whd.toml", files: file(`
demo = true
http = { max_requests = 1_000, max_body = 4096, trusted_proxies = ["10.1.2.3", "192.168.7.0/16"] }
erp.sources.so_totals = "v_SO_Totals"
erp.sources."DB_Class" = "dbo.classes"
[query]
timeout = "1m30s"
time_zone = "Australia/Perth"
`)}.load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"demo", got.Demo, true},
		{"http.max_requests", got.HTTP.MaxRequests, 1000},
		{"http.max_body", got.HTTP.MaxBody, Size(4096)},
		{"http.trusted_proxies", got.HTTP.TrustedProxies.String(), "10.1.2.3/32,192.168.0.0/16"},
		{"erp.sources", got.ERP.Sources.String(), "DB_Class=dbo.classes,SO_Totals=v_SO_Totals"},
		{"query.timeout", got.Query.Timeout, 90 * time.Second},
		{"query.time_zone", got.Query.TimeZone.String(), "Australia/Perth"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestRepeatedListFlagsAccumulate(t *testing.T) {
	got, err := input{args: "--erp-sources DB_Class=a --demo --erp-sources SO_Totals=b"}.load()
	if err != nil {
		t.Fatal(err)
	}
	const want = "DB_Class=a,SO_Totals=b"
	if text := got.ERP.Sources.String(); text != want || !got.Demo {
		t.Errorf("got erp.sources %s and demo %v, want %s and true", text, got.Demo, want)
	}
}

func TestErrorMessages(t *testing.T) {
	toml := func(text string) input { return input{args: "--config whd.toml", files: file(text)} }
	env := func(entries ...string) input { return input{env: entries} }
	cases := []struct {
		name string
		in   input
		want string
	}{
		{"share", input{args: "--changes-share 10"}, `setting changes.share (flag --changes-share): "10" is not a share such as 0.1, above 0 and at most 1`},
		{"number", input{args: "--http-max-requests many"}, `setting http.max_requests (flag --http-max-requests): "many" is not a whole number`},
		{"minimum", input{args: "--http-max-requests 0"}, `setting http.max_requests (flag --http-max-requests): 0 is below the minimum of 1`},
		{"minimum size", input{args: "--http-max-head 1B"}, `setting http.max_head (flag --http-max-head): 1B is below the minimum of 1KiB`},
		{"negative number", env("WHD_QUERY_MAX_TAKE=-1"), `setting query.max_take (variable WHD_QUERY_MAX_TAKE): -1 is below the minimum of 0`},
		{"minimum duration", input{args: "--webhooks-attempt-timeout 1ns"}, `setting webhooks.attempt_timeout (flag --webhooks-attempt-timeout): 1ns is below the minimum of 1s`},
		{"minimum connect timeout", input{args: "--webhooks-connect-timeout 0"}, `setting webhooks.connect_timeout (flag --webhooks-connect-timeout): 0 is below the minimum of 1s`},
		{"minimum session", input{args: "--auth-session 59s"}, `setting auth.session (flag --auth-session): 59s is below the minimum of 1m`},
		{"minimum remembered session", input{args: "--auth-remember 999ms"}, `setting auth.remember (flag --auth-remember): 999ms is below the minimum of 1s`},
		{"minimum or zero", input{args: "--query-timeout 1ms"}, `setting query.timeout (flag --query-timeout): 1ms is below the minimum of 10ms; 0 means no limit`},
		{"minimum or zero, count", input{args: "--query-count-timeout 1ms"}, `setting query.count_timeout (flag --query-count-timeout): 1ms is below the minimum of 10ms; 0 means no limit`},
		{"minimum or zero, retention", input{args: "--webhooks-keep-successful 59m"}, `setting webhooks.keep_successful (flag --webhooks-keep-successful): 59m is below the minimum of 1h; 0 means no limit`},
		{"minimum or zero, retention of failed messages", input{args: "--webhooks-keep-failed 1ns"}, `setting webhooks.keep_failed (flag --webhooks-keep-failed): 1ns is below the minimum of 1h; 0 means no limit`},
		{"maximum", input{args: "--requestlog-days 36501"}, `setting requestlog.days (flag --requestlog-days): 36501 is above the maximum of 36500`},
		{"negative days", input{args: "--requestlog-days -1"}, `setting requestlog.days (flag --requestlog-days): -1 is below the minimum of 0`},
		{"reserved event name", input{args: "--webhooks-events job.created,WebHooks.x"}, `setting webhooks.events (flag --webhooks-events): event name "WebHooks.x" is reserved: names starting with webhooks. belong to the service`},
		{"bool", input{args: "--demo=maybe"}, `setting demo (flag --demo): "maybe" is neither true nor false`},
		{"duration", env("WHD_QUERY_TIMEOUT=30"), `setting query.timeout (variable WHD_QUERY_TIMEOUT): "30" is not a duration such as 30s, 8h or 14d`},
		{"size", env("WHD_HTTP_MAX_BODY=1 acre"), `setting http.max_body (variable WHD_HTTP_MAX_BODY): "1 acre" is not a size such as 65536, 64KiB or 1MiB`},
		{"network", env("WHD_HTTP_TRUSTED_PROXIES=10.0.0.0/8,proxy"), `setting http.trusted_proxies (variable WHD_HTTP_TRUSTED_PROXIES): "proxy" is not a network such as 10.0.0.0/8 or an address such as 10.1.2.3`},
		{"zone", env("WHD_QUERY_TIME_ZONE=Perth"), `setting query.time_zone (variable WHD_QUERY_TIME_ZONE): "Perth" is not a time zone such as Local, UTC or Australia/Perth`},
		{"choice", env("WHD_LOG_LEVEL=loud"), `setting log.level (variable WHD_LOG_LEVEL): "loud" is not one of: debug, info, warn, error`},
		{"address", env("WHD_LISTEN=5050"), `setting listen (variable WHD_LISTEN): "5050" is not an address and port such as 127.0.0.1:5050 or :5050`},
		{"base path", env("WHD_HTTP_BASE_PATH=erp/"), `setting http.base_path (variable WHD_HTTP_BASE_PATH): "erp/" is not a path such as /erp, with a leading and no trailing slash`},
		{"store", env("WHD_STORE=canary"), `setting store (variable WHD_STORE): it must be sqlite, or a connection string such as sqlserver://user:password@host?database=name`},
		{"store in ADO form", env("WHD_STORE=Server=db;Password=canary"), `setting store (variable WHD_STORE): it must be sqlite, or a connection string such as sqlserver://user:password@host?database=name`},
		{"store with an invalid URL", input{args: "--store sqlserver://sa:can%ary@db"}, `setting store (flag --store): the connection string must be a URL such as sqlserver://user:password@host?database=name, with special characters escaped`},
		{"store with invalid options", env("WHD_STORE=sqlserver://sa:canary@db?encrypt=canary"), `setting store (variable WHD_STORE): the connection string has an invalid option`},
		{"store in a file", input{env: []string{"WHD_STORE_FILE=whd.toml"}, files: file("canary")}, `setting store (variable WHD_STORE_FILE): it must be sqlite, or a connection string such as sqlserver://user:password@host?database=name`},
		{"replica of the embedded store", env("WHD_STORE_READ_DSN=sqlserver://db"), `setting erp.read_dsn (variable WHD_STORE_READ_DSN): requires erp to be on a server`},
		{"replica with an invalid URL", env("WHD_STORE=sqlserver://db", "WHD_STORE_READ_DSN=canary"), `setting store.read_dsn (variable WHD_STORE_READ_DSN): the connection string must be a URL such as sqlserver://user:password@host?database=name, with special characters escaped`},
		{"schema", env("WHD_STORE_SCHEMA= "), `setting store.schema (variable WHD_STORE_SCHEMA): " " is not the name of a schema such as dbo`},
		{"demo on a server", input{args: "--store sqlserver://db --demo"}, `setting demo (flag --demo): requires erp to be demo; for a test database on a server run whd demo`},
		{"pair without a value", env("WHD_ERP_SOURCES=SO_Totals"), `setting erp.sources (variable WHD_ERP_SOURCES): "SO_Totals" is not a pair such as SO_Totals=v_SO_Totals`},
		{"duplicate pair", env("WHD_ERP_SOURCES=SO_Totals=a,so_totals=b"), `setting erp.sources (variable WHD_ERP_SOURCES): duplicate name "SO_Totals"`},
		{"unknown record kind", env("WHD_ERP_SOURCES=SO_Total=x"), `setting erp.sources (variable WHD_ERP_SOURCES): unknown record kind "SO_Total"; did you mean SO_Totals?`},
		{"certificate without key", env("WHD_TLS_CERT=a.pem"), `setting tls.cert (variable WHD_TLS_CERT): requires tls.key, unless it is a PFX file (.pfx, .p12)`},
		{"key without certificate", env("WHD_TLS_KEY=a.pem"), `setting tls.key (variable WHD_TLS_KEY): requires tls.cert to be a PEM file; a PFX file contains its key`},
		{"key and a PFX file", env("WHD_TLS_CERT=a.PFX", "WHD_TLS_KEY=a.pem"),
			`setting tls.key (variable WHD_TLS_KEY): requires tls.cert to be a PEM file; a PFX file contains its key`},
		{"password without a PFX file", env("WHD_TLS_CERT=a.pem", "WHD_TLS_KEY=a.pem", "WHD_TLS_PASSWORD=canary"),
			`setting tls.password (variable WHD_TLS_PASSWORD): requires tls.cert to be a PFX file (.pfx, .p12)`},
		{"no state directory", env("HOME="), `setting data_dir (default): this account has no state directory; set --data-dir or WHD_DATA_DIR`},
		{"missing file", input{args: "--config gone.toml"}, `setting config (flag --config): cannot read the file gone.toml: file does not exist`},
		{"missing secret file", env("WHD_ADMIN_PASSWORD_FILE=gone"), `setting admin_password (variable WHD_ADMIN_PASSWORD_FILE): cannot read the file gone: file does not exist`},
		{"empty secret file", input{args: "--admin-password-file whd.toml", files: file("\n")}, `setting admin_password (flag --admin-password-file): the file whd.toml is empty`},
		{"secret file in UTF-16", input{args: "--admin-password-file whd.toml", files: file("\xff\xfec\x00")}, `setting admin_password (flag --admin-password-file): the file whd.toml is in UTF-16; save it in UTF-8`},
		{"secret file with a mark only", input{args: "--admin-password-file whd.toml", files: file("\xef\xbb\xbf\r\n")}, `setting admin_password (flag --admin-password-file): the file whd.toml is empty`},
		{"secret set twice", input{env: []string{"WHD_ADMIN_PASSWORD=canary", "WHD_ADMIN_PASSWORD_FILE=whd.toml"}, files: file("canary")}, "setting admin_password (variable WHD_ADMIN_PASSWORD): also set by variable WHD_ADMIN_PASSWORD_FILE; set only one"},

		{"invalid credential", input{env: []string{"CREDENTIALS_DIRECTORY=/run/c"}, files: map[string]string{"/run/c/store": "canary"}}, `setting store (credential store): it must be sqlite, or a connection string such as sqlserver://user:password@host?database=name`},
		{"empty credential", input{env: []string{"CREDENTIALS_DIRECTORY=/run/c"}, files: map[string]string{"/run/c/admin_password": "\n"}}, `setting admin_password (credential admin_password): the file /run/c/admin_password is empty`},
		{"file at the platform's path", input{files: map[string]string{"/etc/whd/whd.toml": "lisen = ':1'"}}, `file /etc/whd/whd.toml:1: unknown key "lisen"; did you mean listen?`},

		{"TOML in UTF-16", toml("\xff\xfed\x00"), `file whd.toml is in UTF-16; save it in UTF-8`},
		{"TOML after a mark of UTF-8", toml("\xef\xbb\xbfdemo = true\nlisten = = 1\n"), `file whd.toml:2:`},
		{"TOML syntax", toml("demo = true\nlisten = = 1\n"), `file whd.toml:2:`},
		{"TOML duplicate key", toml("demo = true\ndemo = false\n"), `file whd.toml:2:`},
		{"TOML unknown key", toml("\n[http]\nmax_bodi = 1\n"), `file whd.toml:3: unknown key "http.max_bodi"; did you mean http.max_body?`},
		{"TOML setting in its table", toml("[erp]\nerp = 'demo'\n"), `file whd.toml:2: unknown key "erp.erp"; did you mean erp.dsn?`},
		{"TOML unknown table", toml("[quary]\ntotal = 1\ntimeout = 2\n"), `file whd.toml:1: unknown key "quary"; did you mean query?`},
		{"TOML key config", toml("config = 'x'\n"), `file whd.toml:1: unknown key "config"`},
		{"TOML type", toml("[http]\n# note\nmax_requests = 1.5\n"), `setting http.max_requests (file whd.toml:3): it must be a number such as 10`},
		{"TOML secret type", toml("admin_password = 12345678\n"), `setting admin_password (file whd.toml:1): it must be a quoted string`},
		{"TOML duration type", toml("[query]\ntimeout = 30\n"), `setting query.timeout (file whd.toml:2): it must be a duration in quotes such as "30s"`},
		{"TOML size type", toml("http.max_body = true\n"), `setting http.max_body (file whd.toml:1): it must be a size such as 65536 or "64KiB"`},
		{"TOML bool type", toml("demo = 1\n"), `setting demo (file whd.toml:1): it must be true or false`},
		{"TOML list type", toml("http.trusted_proxies = 1\n"), `setting http.trusted_proxies (file whd.toml:1): it must be a list such as ["10.0.0.0/8"]`},
		{"TOML list item", toml("http.trusted_proxies = [1]\n"), `setting http.trusted_proxies (file whd.toml:1): every list item must be a string without commas`},
		{"TOML map type", toml("erp.sources = 1\n"), `setting erp.sources (file whd.toml:1): it must be a table of strings such as { SO_Totals = "v_SO_Totals" }`},
		{"TOML map item", toml("[erp.sources]\nSO_Totals = 1\n"), `setting erp.sources (file whd.toml:1): SO_Totals must be a string without commas`},
		{"TOML table for text", toml("[listen]\nport = 1\n"), `setting listen (file whd.toml:1): it must be a quoted string`},
		{"TOML array of tables", toml("[[http]]\nmax_body = 1\n"), `file whd.toml:2: http.max_body must be written as "max_body" in the table [http]`},
		{"TOML quoted key", toml("\"http.max_body\" = 1\n"), `file whd.toml:1: http.max_body must be written as "max_body" in the table [http]`},
		{"TOML value", toml("[query]\ntotal = 'never'\n"), `setting query.total (file whd.toml:2): "never" is not one of: auto, always, asked`},
		{"TOML two stores", toml("store_file = 'a'\n[store]\ndsn = 'sqlite'\n"), `setting store (file whd.toml:1): also set by file whd.toml:3; set only one`},
		{"TOML two files of the store", input{args: "--config whd.toml", files: map[string]string{"whd.toml": "store_file = 'a'\nstore.dsn_file = 'a'\n", "a": "sqlite"}}, `setting store (file whd.toml:2): also set by file whd.toml:1; set only one`},
		{"TOML store as a table", toml("[store]\nsqlite = true\n"), `file whd.toml:2: unknown key "store.sqlite"`},
		{"TOML table with a name similar to a setting", toml("[stores]\nread_dsn = 'canary'\n"), `file whd.toml:1: unknown key "stores"; did you mean store?`},
		{"password in another setting", env("WHD_LISTEN=sqlserver://sa:canary@db"), `setting listen (variable WHD_LISTEN): "sqlserver://***@db" is not an address and port such as 127.0.0.1:5050 or :5050`},
		{"password with an @ and a quote", env(`WHD_LOG_LEVEL=sqlserver://sa:"canary"@canary@db`), `setting log.level (variable WHD_LOG_LEVEL): "sqlserver://***@db" is not one of: debug, info, warn, error`},
		{"password in options", env("WHD_LISTEN=Server=db;Pwd = canary;Database=ERP"), `setting listen (variable WHD_LISTEN): "Server=db;Pwd =***;Database=ERP" is not an address and port such as 127.0.0.1:5050 or :5050`},
		{"password in a file name", toml("store_file = 'sqlserver://sa:canary@db'\n"), `setting store (file whd.toml:1): cannot read the file sqlserver://***@db: file does not exist`},
		{"password in a key", toml("'store=sqlserver://sa:canary@db' = 1\n"), `file whd.toml:1: unknown key "store=sqlserver://***@db"`},
		{"several errors", input{args: "--config whd.toml --demo=2", env: []string{"WHD_LISTEN=x"}, files: file("a = 1\ndebug = 2\n")}, `file whd.toml:1: unknown key "a"
setting debug (file whd.toml:2): it must be true or false
setting listen (variable WHD_LISTEN): "x" is not an address and port such as 127.0.0.1:5050 or :5050
setting demo (flag --demo): "2" is neither true nor false`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.in.load()
			if _, ok := errors.AsType[*UsageError](err); !ok {
				t.Fatalf("error is %T: %v", err, err)
			}
			got := err.Error()
			isStart := strings.HasSuffix(c.want, ":") // the rest is a message of the TOML library
			if got != c.want && !(isStart && strings.HasPrefix(got, c.want)) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Error("the message contains a secret")
			}
		})
	}
}

func TestUnknownVariableCausesWarning(t *testing.T) {
	env := []string{"WHD_LISTENN=x", "WHD_9=", "WHD_SOMETHING=canary", "PATH=/bin"}
	got, err := input{env: env}.load()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"unknown variable WHD_LISTENN is ignored; did you mean WHD_LISTEN?",
		"unknown variable WHD_SOMETHING is ignored",
	}
	if !reflect.DeepEqual(got.Start.Warnings, want) {
		t.Errorf("got %q, want %q", got.Start.Warnings, want)
	}
}

func TestStateDirectory(t *testing.T) {
	cases := []struct {
		on   platform
		env  []string
		want string
	}{
		{platform{"linux", true}, []string{"HOME=/root", "XDG_STATE_HOME=/x"}, "/var/lib/whd"},
		{platform{"linux", false}, []string{"HOME=/home/erp", "XDG_STATE_HOME=/state/"}, "/state/whd"},
		{platform{"linux", false}, []string{"HOME=/home/erp", "XDG_STATE_HOME=relative"}, "/home/erp/.local/state/whd"},
		{platform{"linux", false}, []string{"HOME=/home/erp"}, "/home/erp/.local/state/whd"},
		{platform{"linux", false}, nil, ""},
		{platform{"linux", false}, []string{"HOME=/home/erp", "STATE_DIRECTORY=/var/lib/whd:/var/lib/other"}, "/var/lib/whd"},
		{platform{"darwin", false}, []string{"HOME=/Users/erp"}, "/Users/erp/Library/Application Support/whd"},
		{platform{"windows", false}, []string{`Path=x`, `ProgramData=C:\ProgramData`}, `C:\ProgramData\whd`},
		{platform{"windows", false}, []string{`PROGRAMDATA=D:\Data\`}, `D:\Data\whd`},
	}
	for _, c := range cases {
		if got := c.on.stateDirectory(c.on.environment(c.env)); got != c.want {
			t.Errorf("the state directory on %+v with %q: got %q, want %q", c.on, c.env, got, c.want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	cases := []struct {
		text, printed string
		want          time.Duration
	}{
		{"0", "0s", 0},
		{"30s", "30s", 30 * time.Second},
		{"10m", "10m", 10 * time.Minute},
		{"14d", "336h", 336 * time.Hour},
		{"1d12h", "36h", 36 * time.Hour},
		{"1h0m5s", "1h0m5s", time.Hour + 5*time.Second},
		{"250ms", "250ms", 250 * time.Millisecond},
	}
	for _, c := range cases {
		got, err := ParseDuration(c.text)
		if err != nil || got != c.want || textOf(got) != c.printed {
			t.Errorf("%s: got %v, printed as %s (%v), want %v, printed as %s",
				c.text, got, textOf(got), err, c.want, c.printed)
		}
	}
	for _, text := range []string{"", "d", "1", "-1s", "1d-1h", "65536d", "1.5d", "1d1", "2562048h", "1 d"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestParseSize(t *testing.T) {
	cases := []struct {
		text, printed string
		want          Size
	}{
		{"0", "0", 0},
		{"1", "1", 1},
		{"10B", "10", 10},
		{"64KiB", "64KiB", 65536},
		{"65536", "64KiB", 65536},
		{"1 mib", "1MiB", 1 << 20},
		{"2GiB", "2GiB", 2 << 30},
		{"1MB", "1000000", 1e6},
		{"3KB", "3000", 3000},
	}
	for _, c := range cases {
		var got Size
		err := got.UnmarshalText([]byte(c.text))
		if err != nil || got != c.want || got.String() != c.printed {
			t.Errorf("%s: got %d, printed as %s (%v), want %d, printed as %s",
				c.text, got, got, err, c.want, c.printed)
		}
	}
	for _, text := range []string{
		"", "B", "-1", "1.5MiB", "9223372036854775808", "9223372036854775807KiB", "1TiB", "MiB",
	} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

// FuzzParseTOML checks that no file makes the parser panic.
func FuzzParseTOML(f *testing.F) {
	for _, seed := range []string{
		"listen = ':1'\n[http]\nmax_body = 1\n",
		"[erp.sources]\na = 'b'\n",
		"a.b.c = {d = [1, {e = 2}]}\n",
		"[[http]]\n[http.x]\n",
		"\"\" = 1\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, _ := parseTOML("f", []byte(text))
		for _, g := range l {
			var c Config
			_ = g.setting.assign(&c, g.text)
		}
	})
}

// FuzzValues checks that a value that is printed and parsed again is the same.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{"", "1d2h", "64KiB", "10.0.0.0/8,::1", "a=b,c=d", "UTC", "true"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range Settings() {
			var c, parsed Config
			if s.secret() || s.assign(&c, text) != nil {
				continue
			}
			if err := s.assign(&parsed, s.text(&c)); err != nil || !reflect.DeepEqual(c, parsed) {
				t.Errorf("%s: %q is printed as %q: %v", s.Name, text, s.text(&c), err)
			}
		}
	})
}

// TestSampleContainsDefaults reads the sample file with its settings uncommented.
func TestSampleContainsDefaults(t *testing.T) {
	want, err := input{}.load()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(sampleOf(want, nil)) {
		if bare, ok := strings.CutPrefix(line, "# "); ok && strings.Contains(bare, " = ") {
			line = bare
		}
		lines = append(lines, line)
	}
	got, err := input{args: "--config whd.toml", files: file(strings.Join(lines, ""))}.load()
	if err != nil {
		t.Fatal(err)
	}
	got.File = ""
	got.origins = want.origins
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestTableIsValid(t *testing.T) {
	names := make(map[string]bool)
	for _, s := range Settings() {
		if names[s.Name] {
			t.Errorf("%s: duplicate name", s.Name)
		}
		names[s.Name] = true
		if s.Help == "" || strings.HasSuffix(s.Help, ".") || strings.Contains(s.Help, "|") {
			t.Errorf("%s: the help %q is missing, ends with a period or contains a bar", s.Name, s.Help)
		}
		if s.Default != "" && s.assign(new(Config), s.Default) != nil {
			t.Errorf("%s: the default is invalid", s.Name)
		}
	}
}

// TestBoundsAreAllowed assigns the minimum, the maximum, and 0 if it means no limit.
func TestBoundsAreAllowed(t *testing.T) {
	var c Config
	for _, s := range Settings() {
		var texts []string
		for _, bound := range []int64{s.min, s.max} {
			if bound != 0 {
				texts = append(texts, s.boundText(bound))
			}
		}
		if s.zeroUnlimited {
			texts = append(texts, "0")
		}
		for _, text := range texts {
			if err := s.assign(&c, text); err != nil {
				t.Errorf("assigning %s to %s: %v", text, s.Name, err)
			}
		}
	}
	c.RequestLog.Days = maxDays
	if retention := c.RequestLog.Retention(); retention.Hours() != 24*maxDays {
		t.Errorf("%d days are a retention of %v", maxDays, retention)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	secret := struct {
		P Secret
		D DSN
		O DSN
		U ProxyURL
	}{"canary", "sqlserver://canary:canary@canary", "Server=canary", "http://canary:canary@proxy"}
	body, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("x", "p", secret.P, "d", secret.D, "o", secret.O, "u", secret.U)
	for name, text := range map[string]string{
		"JSON":    string(body),
		"the log": log.String(),
		"Sprint":  fmt.Sprint(secret),
		"Sprintf": fmt.Sprintf("%+v %#v %s %q", secret, secret, secret.P, secret.D),
	} {
		if strings.Contains(text, "canary") || !strings.Contains(text, masked) {
			t.Errorf("%s is not masked: %s", name, text)
		}
	}
}

func TestCountsPages(t *testing.T) {
	for args, want := range map[string]bool{
		"":                       true,
		"--store sqlserver://db": false,
		"--query-total asked":    false,
		"--store sqlserver://db --query-total always": true,
	} {
		c, err := input{args: args}.load()
		if err != nil || c.CountsPages() != want {
			t.Errorf("CountsPages with %q: got %v (%v), want %v", args, c.CountsPages(), err, want)
		}
	}
}
