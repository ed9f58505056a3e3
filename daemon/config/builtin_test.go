package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// builtinConfig returns the settings with a value of erp.builtin and a file that declares a kind
// of its own and additional fields of DB_Class.
func builtinConfig(t *testing.T, value string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.toml")
	err := os.WriteFile(path, []byte("[Parcel.fields]\nNo = 'int'\n[DB_Class.fields]\nColour = 'string'\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return input{env: []string{
		"WHD_ERP_BUILTIN=" + value,
		"WHD_ERP_KINDS=" + path,
		"WHD_ERP=sqlserver://a:b@db?database=erp",
	}}.load()
}

// TestBuiltin checks which kinds each value of erp.builtin serves, which tables are tracked, and
// which of them (*) an ERP need not have. Kinds of files are always served.
func TestBuiltin(t *testing.T) {
	for _, c := range []struct {
		value, served, tracked string
	}{
		{"present", "DB_Class SO_Totals Parcel", "DB_Class SO_Totals* Parcel BM_Main*"},
		{"all", "DB_Class SO_Totals Parcel", "Parcel"},
		{"none", "DB_Class Parcel", "Parcel BM_Main*"},
		{"so_totals, IN_Colours", "DB_Class SO_Totals Parcel", "Parcel BM_Main*"},
		{"IN_Colours", "DB_Class Parcel", "Parcel BM_Main*"},
	} {
		conf, err := builtinConfig(t, c.value)
		if err != nil {
			t.Fatalf("erp.builtin = %s: %v", c.value, err)
		}
		shown := func(name string) bool { return strings.Contains("DB_Class SO_Totals Parcel BM_Main", name) }
		var served, tracked []string
		for _, kind := range conf.ERP.Kinds.Registry().Kinds() {
			if shown(kind.Name) {
				served = append(served, kind.Name)
			}
		}
		for _, table := range conf.ERP.Tracked() {
			name := table.Kind.Name
			if !shown(name) {
				continue
			}
			if table.Optional {
				name += "*"
			}
			tracked = append(tracked, name)
		}
		if got := strings.Join(served, " "); got != c.served {
			t.Errorf("erp.builtin = %s serves %s, want %s", c.value, got, c.served)
		}
		if got := strings.Join(tracked, " "); got != c.tracked {
			t.Errorf("erp.builtin = %s tracks %s, want %s", c.value, got, c.tracked)
		}
	}
	for value, want := range map[string]string{
		"SO_Total":      `"SO_Total" is not present, all, none or a list of built-in record kinds; did you mean SO_Totals`,
		"none,DB_Class": `"none" is not present`,
	} {
		_, err := builtinConfig(t, value)
		if err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("erp.builtin = %s: %v, want %s", value, err, want)
		}
	}
}

// TestBrokenLinkToKinds checks that the built-in kinds are left out if the directory of their files is
// a link that leads nowhere: the files may require roles for them.
func TestBrokenLinkToKinds(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "whd.toml")
	if err := os.Symlink(filepath.Join(dir, "missing"), filepath.Join(dir, "kinds")); err != nil {
		t.Skip(err)
	}
	conf, err := input{
		env:   []string{"WHD_ERP=demo", "WHD_CONFIG=" + path}, // the arguments are split at blanks
		files: map[string]string{path: ""},
	}.load()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(conf.ERP.Kinds.Registry().Kinds()); n != 0 {
		t.Errorf("%d kinds are served, want none", n)
	}
}
