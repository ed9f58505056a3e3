package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
	"github.com/pelletier/go-toml/v2"
)

// golden compares got with a file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	goldentest.Compare(t, file, got)
}

func TestConfigSample(t *testing.T) {
	defaults, err := input{}.load()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/config.toml.golden", sampleOf(defaults, nil))
}

// TestConfigSampleWithTZ runs TestConfigSample in a process with the variable TZ, which
// Go reads once.
func TestConfigSampleWithTZ(t *testing.T) {
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestConfigSample$")
	c.Env = append(os.Environ(), "TZ=UTC")
	if output, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestTextsInTOML checks that the decoder returns the texts that tomlString quotes.
func TestTextsInTOML(t *testing.T) {
	texts := []string{
		"", "plain", "Zürich 東京 \U0001f600", `C:\Users\jörg müller\x`, `it's`, `C:\it's`, `"quoted" \ 'both'`,
		"tab\tand line\r\nbreak", "C:\\tab\there", "\u00a0\u200b\u202e", "\U000e0001",
	}
	for c := range rune(0xa0) {
		texts = append(texts, string(c), `\`+string(c))
	}
	for _, text := range texts {
		var got struct{ Key string }
		quoted := tomlString(text)
		err := toml.Unmarshal([]byte("key = "+quoted), &got)
		if err != nil || got.Key != text {
			t.Errorf("%s: got %q, error %v; want %q", quoted, got.Key, err, text)
		}
	}
}

// sampleWith writes the settings file of a service with flags as in a shell, without quotes, and
// last ones, and loads it.
func sampleWith(t *testing.T, args string, last ...string) (Config, error) {
	t.Helper()
	flags, err := parseFlags(append(strings.Fields(args), last...))
	if err != nil {
		t.Fatal(err)
	}
	var sample strings.Builder
	err = serviceSample(&sample, platform{os: "linux", superuser: true}, flags, nil)
	if err != nil {
		return Config{}, err
	}
	config, _ := settingNamed("config")
	return load(sources{
		flags: Layer{{setting: config, text: "whd.toml", origin: "flag --config"}},
		readFile: func(name string) ([]byte, error) {
			if name == "whd.toml" {
				return []byte(sample.String()), nil
			}
			return os.ReadFile(name)
		},
		platform: platform{os: "linux"},
	})
}

// TestServiceSampleNamesFiles checks that the settings file has the absolute names of the files of
// secrets, not the secrets.
func TestServiceSampleNamesFiles(t *testing.T) {
	const dsn = "sqlserver://whd:s3cret@sql?database=erp"
	t.Chdir(t.TempDir())
	if err := os.WriteFile("dsn", []byte(dsn+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("secret", []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	absolute, err := filepath.Abs("dsn")
	if err != nil {
		t.Fatal(err)
	}

	c, err := sampleWith(t, "--erp= --erp-file dsn --admin-password-file secret --tls-cert cert.pfx"+
		" --tls-password-file secret", "--store-file", absolute)
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range []struct{ name, got, want string }{
		{"erp", string(c.ERP.DSN), dsn},
		{"store", string(c.Store), dsn},
		{"admin_password", string(c.AdminPassword), "s3cret"},
		{"tls.password", string(c.TLS.Password), "s3cret"},
	} {
		if setting.got != setting.want {
			t.Errorf("%s: got %q, want %q", setting.name, setting.got, setting.want)
		}
	}
}

// TestServiceSampleWarnsOfNames checks that only a settings file with absolute names of files has the
// note that they may not exist on another machine.
func TestServiceSampleWarnsOfNames(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("erp", []byte("demo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const warning = "names of files of secrets are those of this machine"
	for args, isWanted := range map[string]bool{"--erp-file erp": true, "--erp demo": false} {
		flags, err := parseFlags(strings.Fields(args))
		if err != nil {
			t.Fatal(err)
		}
		var sample strings.Builder
		err = serviceSample(&sample, thisPlatform(), flags, nil)
		if err != nil || strings.Contains(sample.String(), warning) != isWanted {
			t.Errorf("%s: got %v and the text %.900s, want %q in it: %t",
				args, err, sample.String(), warning, isWanted)
		}
	}
}

// TestServiceSampleKeepsShare checks that a share of one, which looks like an integer, can be read, and
// that one that a user has typed as an integer can be, too.
func TestServiceSampleKeepsShare(t *testing.T) {
	c, err := sampleWith(t, "--changes-share 1")
	if err != nil {
		t.Fatal(err)
	}
	if c.ERP.Changes.Share != 1 {
		t.Errorf("changes.share is %v, want 1", c.ERP.Changes.Share)
	}
	share, _ := settingNamed("changes.share")
	text, err := share.kind().textOfTOML(int64(1))
	if err != nil || text != "1" {
		t.Errorf("an integer is read as %q (%v), want 1", text, err)
	}
}

// TestServiceSampleKeepsTypes checks values that are not texts.
func TestServiceSampleKeepsTypes(t *testing.T) {
	c, err := sampleWith(t, "--demo --erp demo --http-max-requests 012 --http-max-body 64KiB"+
		" --log-level debug --webhooks-allow-targets 127.0.0.0/8,10.0.0.0/8 --erp-sources SO_Totals=v_SO")
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range []struct {
		name      string
		got, want any
	}{
		{"demo", c.Demo, true},
		{"erp", string(c.ERP.DSN), "demo"},
		{"http.max_requests", c.HTTP.MaxRequests, 12},
		{"http.max_body", c.HTTP.MaxBody, Size(64 << 10)},
		{"log.level", c.Log.Level, "debug"},
		{"erp.sources", c.ERP.Sources["SO_Totals"], "v_SO"},
	} {
		if setting.got != setting.want {
			t.Errorf("%s: got %v, want %v", setting.name, setting.got, setting.want)
		}
	}
}

// TestServiceSampleRefusesBadFiles checks that mistakes in the flags of files are found before
// there is a settings file.
func TestServiceSampleRefusesBadFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("nonsense", []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("demo", []byte("demo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ args, want string }{
		{"--erp-file missing", "flag --erp-file: cannot read the file missing"},
		{"--erp-file nonsense", "flag --erp-file: "},
		{"--erp demo --erp-file demo", "flag --erp-file: also set by flag --erp"},
		{"--tls-cert \xff.pfx", "flag --tls-cert: it is not UTF-8"},
	} {
		_, err := sampleWith(t, test.args)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got the error %v, want one with %q", test.args, err, test.want)
		}
	}
}
