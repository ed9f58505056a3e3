package config

import (
	"io/fs"
	"strings"
	"testing"
)

func TestConfigPath(t *testing.T) {
	for _, c := range []struct {
		on   platform
		env  []string
		want string
	}{
		{platform{os: "linux"}, nil, "/etc/whd/whd.toml"},
		{platform{os: "darwin"}, nil, "/etc/whd/whd.toml"},
		{platform{os: "windows"}, []string{`ProgramData=C:\ProgramData`}, `C:\ProgramData\whd\whd.toml`},
		{platform{os: "windows"}, nil, ""},
	} {
		if got := c.on.configPath(c.on.environment(c.env)); got != c.want {
			t.Errorf("the settings file on %+v with %q: got %q, want %q", c.on, c.env, got, c.want)
		}
	}
}

// TestUnreadableConfigIsAnError checks that an unreadable settings file is an error, unlike a
// missing one.
func TestUnreadableConfigIsAnError(t *testing.T) {
	const want = "setting config (default): cannot read the file /etc/whd/whd.toml: permission denied"
	_, err := load(sources{
		env: []string{"HOME=/home/erp"},
		readFile: func(name string) ([]byte, error) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
		},
		platform: platform{os: "linux"},
	})
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// TestPrecedenceOfCredentials checks that credentials of systemd override the settings file,
// that variables override credentials, and that settings that are not secret are ignored.
func TestPrecedenceOfCredentials(t *testing.T) {
	const dir = "/run/credentials/whd.service"
	in := input{
		args: "--config whd.toml",
		env:  []string{"CREDENTIALS_DIRECTORY=" + dir, "WHD_STORE_READ_DSN=sqlserver://by-variable"},
		files: map[string]string{
			"whd.toml":              "store_file = 'other'\n",
			"other":                 "sqlserver://by-file",
			dir + "/store":          "sqlserver://by-credential\n",
			dir + "/store.read_dsn": "sqlserver://by-credential",
			dir + "/admin_password": "s3cret-x",
			dir + "/listen":         ":1",
		},
	}
	loaded, err := in.load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, got, want string }{
		{"store", string(loaded.Store), "sqlserver://by-credential"},
		{"the origin of store", string(loaded.Origin("store")), "credential store"},
		{"store.read_dsn", string(loaded.Server.ReadDSN), "sqlserver://by-variable"},
		{"admin_password", string(loaded.AdminPassword), "s3cret-x"},
		{"listen", loaded.Listen, "127.0.0.1:5050"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

// TestServiceSampleSetsDataDir checks that the settings file of a service is valid, and sets
// data_dir only.
func TestServiceSampleSetsDataDir(t *testing.T) {
	for on, want := range map[platform]string{
		{os: "linux", superuser: true}: "/var/lib/whd",
		{os: "windows"}:                `C:\ProgramData\whd`,
	} {
		var sample strings.Builder
		if err := serviceSample(&sample, on, nil, []string{`PROGRAMDATA=C:\ProgramData`}); err != nil {
			t.Fatal(err)
		}
		got, err := input{args: "--config whd.toml", files: file(sample.String())}.load()
		if err != nil {
			t.Errorf("the file on %s: %v", on.os, err)
			continue
		}
		if got.DataDir != want {
			t.Errorf("the file on %s: got data_dir %q, want %q", on.os, got.DataDir, want)
		}
		if origin := string(got.Origin("data_dir")); !strings.HasPrefix(origin, "file whd.toml:") {
			t.Errorf("the file on %s: got data_dir from %s, want it from the file", on.os, origin)
		}
		if origin := got.Origin("listen"); origin != byDefault {
			t.Errorf("the file on %s: got listen from %s, want the default", on.os, origin)
		}
	}
}

// TestServiceSampleSetsFlags checks that the settings file of a service has the values of flags,
// but not empty ones.
func TestServiceSampleSetsFlags(t *testing.T) {
	const dsn = "sqlserver://whd:p%22'w@sql?database=erp"
	var flags Layer
	values := map[string]string{"listen": "", "erp": dsn, "config": "elsewhere.toml"}
	for _, f := range Flags(&flags) {
		if value, ok := values[f.Name]; ok {
			f.Set(value)
		}
	}
	var sample strings.Builder
	if err := serviceSample(&sample, platform{os: "linux", superuser: true}, flags, nil); err != nil {
		t.Fatal(err)
	}
	got, err := input{args: "--config whd.toml", files: file(sample.String())}.load()
	if err != nil {
		t.Fatal(err)
	}
	if string(got.ERP.DSN) != dsn {
		t.Errorf("got erp %q, want %q", string(got.ERP.DSN), dsn)
	}
	if origin := got.Origin("listen"); origin != byDefault {
		t.Errorf("after an empty --listen: got listen from %s, want the default", origin)
	}
}

// TestServiceSampleRefusesInvalidFlags checks that a mistake is found before there is a file.
func TestServiceSampleRefusesInvalidFlags(t *testing.T) {
	var flags Layer
	for _, f := range Flags(&flags, "listen") {
		f.Set("nonsense")
	}
	var sample strings.Builder
	err := serviceSample(&sample, platform{os: "linux"}, flags, nil)
	if err == nil || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("got the error %v, want one that names --listen", err)
	}
}

// TestShippedSettings checks that the settings file in the packages is the initial file of a
// service.
func TestShippedSettings(t *testing.T) {
	var sample strings.Builder
	if err := serviceSample(&sample, platform{os: "linux", superuser: true}, nil, nil); err != nil {
		t.Fatal(err)
	}
	golden(t, "../../cmd/daemon/deploy/whd.toml", sample.String())
}
