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
			t.Errorf("%v %v: %q, want %q", c.on, c.env, got, c.want)
		}
	}
}

// An unreadable settings file is an error; a missing one is not.
func TestUnreadableConfigIsAnError(t *testing.T) {
	_, err := load(sources{nil, []string{"HOME=/home/erp"}, func(name string) ([]byte, error) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}, platform{os: "linux"}})
	if want := "setting config (default): cannot read the file /etc/whd/whd.toml: permission denied"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Credentials of systemd override the settings file, and variables override credentials.
func TestPrecedenceOfCredentials(t *testing.T) {
	in := input{
		args: "--config whd.toml",
		env:  []string{"CREDENTIALS_DIRECTORY=/run/credentials/whd.service", "WHD_STORE_READ_DSN=sqlserver://by-variable"},
		files: map[string]string{
			"whd.toml": "store_file = 'other'\n", "other": "sqlserver://by-file",
			"/run/credentials/whd.service/store":          "sqlserver://by-credential\n",
			"/run/credentials/whd.service/store.read_dsn": "sqlserver://by-credential",
			"/run/credentials/whd.service/admin_password": "s3cret-x",
			"/run/credentials/whd.service/listen":         ":1",
		},
	}
	got, err := in.load()
	if err != nil {
		t.Fatal(err)
	}
	if got.Store != "sqlserver://by-credential" || got.Origin("store") != "credential store" || got.AdminPassword != "s3cret-x" ||
		got.Server.ReadDSN != "sqlserver://by-variable" || got.Listen != "127.0.0.1:5050" {
		t.Errorf("got %#v, %q, listen %s", got, []string{string(got.Store), string(got.AdminPassword), string(got.Server.ReadDSN)}, got.Listen)
	}
}

// The settings file of a service is valid and sets data_dir.
func TestServiceSampleSetsDataDir(t *testing.T) {
	dataDirs := map[string]string{"linux": "/var/lib/whd", "windows": `C:\ProgramData\whd`}
	for _, on := range []platform{{os: "linux", superuser: true}, {os: "windows"}} {
		env := []string{`PROGRAMDATA=C:\ProgramData`}
		var b strings.Builder
		if err := serviceSample(&b, on, env); err != nil {
			t.Fatal(err)
		}
		got, err := input{args: "--config whd.toml", files: file(b.String())}.load()
		want := dataDirs[on.os]
		if err != nil || got.DataDir != want || !strings.HasPrefix(string(got.Origin("data_dir")), "file whd.toml:") || got.Origin("listen") != byDefault {
			t.Errorf("%s: %q, %v", on.os, got.DataDir, err)
		}
	}
}

// The settings file in the packages is the initial file of a service.
func TestShippedSettings(t *testing.T) {
	var b strings.Builder
	if err := serviceSample(&b, platform{os: "linux", superuser: true}, nil); err != nil {
		t.Fatal(err)
	}
	golden(t, "../../cmd/daemon/deploy/whd.toml", b.String())
}
