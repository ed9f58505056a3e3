package export_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/export"
)

// csvJob returns an export of a row to a file.
func csvJob(t *testing.T, path string) *export.Job {
	t.Helper()
	return &export.Job{
		Path:    path,
		Context: t.Context(),
		Format:  export.FormatNamed("csv"),
		Columns: []export.Column{{Name: "ID"}},
		Fetched: []client.Row{},
	}
}

// write runs an export, and returns its error.
func write(t *testing.T, j *export.Job) error {
	t.Helper()
	return j.Write(nil, context.Background())
}

// A partial file that exists is neither written nor removed, also if it is a link.
func TestExportKeepsPartialFileOfOthers(t *testing.T) {
	dir := t.TempDir()
	target, partial := filepath.Join(dir, "target"), filepath.Join(dir, "file"+export.PartSuffix)
	links := map[string]string{"link": target, "dangling": filepath.Join(dir, "missing")}
	for _, path := range []string{target, partial} {
		if err := os.WriteFile(path, []byte("of the user"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name+export.PartSuffix)); err != nil {
			t.Skip(err)
		}
	}
	for _, name := range []string{"file", "link", "dangling"} {
		path := filepath.Join(dir, name)
		for _, err := range []error{write(t, csvJob(t, path)), export.CheckPath(path, path)} {
			if err == nil || !strings.Contains(err.Error(), name+export.PartSuffix+" exists") {
				t.Errorf("an export to %s returns %v, want an error about its partial file", name, err)
			}
		}
		if _, err := os.Lstat(path + export.PartSuffix); err != nil {
			t.Errorf("the partial file of %s after an export: %v, want it unchanged", name, err)
		}
		if unused := export.UnusedPath(dir, name, ""); filepath.Base(unused) != name+"-2" {
			t.Errorf("the unused path for %s is %s, want %s-2, as it has a partial file", name, unused, name)
		}
	}
	for _, path := range []string{target, partial} {
		if text, err := os.ReadFile(path); string(text) != "of the user" {
			t.Errorf("%s has %q, error %v; want its first content", path, text, err)
		}
	}
	if _, err := os.Stat(links["dangling"]); err == nil {
		t.Errorf("the target of the dangling link exists, want none: %s", links["dangling"])
	}
}

// A file that was created during an export is replaced only if the user has confirmed that.
func TestExportReplacesOnlyConfirmedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	for _, replace := range []bool{false, true} {
		if err := os.WriteFile(path, []byte("of the user"), 0o600); err != nil {
			t.Fatal(err)
		}
		j := csvJob(t, path)
		j.Replace = replace
		err := write(t, j)
		text, _ := os.ReadFile(path)
		if replaced := string(text) != "of the user"; replaced != replace || (err == nil) != replace {
			t.Errorf("an export with Replace %v: replaced %v, error %v; want replaced %v and an error unless replaced",
				replace, replaced, err, replace)
		}
		_ = os.Remove(path + export.PartSuffix)
	}
}

// A saved field or body does not replace a file, and does not follow a link.
func TestWriteNewKeepsExistingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "body.json")
	for i, want := range []bool{true, false} {
		if err := export.WriteNew(path, []byte{byte('0' + i)}); (err == nil) != want {
			t.Errorf("write %d: error %v, want success %v", i+1, err, want)
		}
	}
	if text, _ := os.ReadFile(path); string(text) != "0" {
		t.Errorf("the file has %q, want the first content", text)
	}
	link := path + "-link"
	if err := os.Symlink(path+"-missing", link); err != nil {
		t.Skip(err)
	}
	if err := export.CheckPath(link, link); err == nil {
		t.Error("CheckPath of a dangling link returns nil, want an error")
	}
}

// endingContext ends after a row.
type endingContext struct {
	context.Context
	rows int
}

func (c *endingContext) Err() error {
	c.rows++
	if c.rows > 1 {
		return context.Canceled
	}
	return nil
}

// When the session ends, a partial file is kept if its rows can be read, and has them.
func TestPartialFileAfterSession(t *testing.T) {
	var rows []client.Row
	for _, text := range []string{`{"ID":"first"}`, `{"ID":"second"}`} {
		row, err := client.ParseRow([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, format := range export.Formats {
		j := csvJob(t, filepath.Join(t.TempDir(), "rows"+format.Suffix))
		j.Format = format
		j.Fetched = rows
		j.Context = &endingContext{Context: t.Context()}
		if err := j.Write(nil, ended); err == nil {
			t.Errorf("%s: an export that was ended returns no error", format.Name)
		}
		text, err := os.ReadFile(j.Path + export.PartSuffix)
		isKept := err == nil
		if isKept != (format.Name != "xlsx") {
			t.Errorf("%s: the partial file is kept: %v", format.Name, isKept)
		}
		if isKept && !strings.Contains(string(text), "first") {
			t.Errorf("%s: the partial file has %q, want the first row", format.Name, text)
		}
	}
}
