package backup_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/bizhook/whd/daemon/backup"
)

// TestForgedBackups checks valid archives with contents that differ from the manifest.
func TestForgedBackups(t *testing.T) {
	s := source(t)
	genuine := must(os.ReadFile(saved(t, s)))(t)
	setFirst := func(change func(*backup.Member)) forgery {
		return manifestWith(func(m *backup.Manifest) { change(&m.Members[0]) })
	}
	for _, c := range []struct {
		name  string
		forge forgery
		want  string // error
	}{
		{
			"another content",
			func(n int, _ *tar.Header, body []byte) []byte {
				if n == 2 {
					body[len(body)/2] ^= 1
				}
				return body
			},
			"damaged at whd.db: checksum mismatch",
		},
		{
			"another name",
			func(n int, head *tar.Header, body []byte) []byte {
				if n == 1 {
					head.Name = "../records.db"
				}
				return body
			},
			"found another file in its place",
		},
		{
			"a name outside",
			setFirst(func(m *backup.Member) { m.Name = "../records.db" }),
			`unexpected file "../records.db"`,
		},
		{
			"a file twice",
			setFirst(func(m *backup.Member) { m.Name = "whd.db" }),
			`unexpected file "whd.db"`,
		},
		{
			"a file missing",
			manifestWith(func(m *backup.Manifest) { m.Members = m.Members[:1] }),
			"whd.db is missing from the backup",
		},
		{
			"another schema",
			manifestWith(func(m *backup.Manifest) { m.Members[1].Schema = 3 }),
			"schema version is",
		},
		{
			"a later form",
			manifestWith(func(m *backup.Manifest) { m.Format = 2 }),
			"unsupported backup format",
		},
		{
			"a huge size",
			setFirst(func(m *backup.Member) { m.Size = 1 << 60 }),
			"bytes required",
		},
		{
			"huge sizes",
			manifestWith(func(m *backup.Manifest) {
				m.Members[0].Size = 1 << 62
				m.Members[1].Size = 1 << 62
			}),
			"total size of its files is too large",
		},
		{
			"a size below 0",
			setFirst(func(m *backup.Member) { m.Size = -1 }),
			"unexpected file",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "forged")
			if err := os.WriteFile(file, repacked(t, genuine, c.forge), 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, backup.Target{Dir: t.TempDir(), Files: s.Files}, file, c.want)
		})
	}
}

// TestExtraFile checks an archive with a file that is not in the manifest.
func TestExtraFile(t *testing.T) {
	s := source(t)
	whole := must(os.ReadFile(saved(t, s)))(t)
	plain := must(zstd.NewReader(nil))(t)
	defer plain.Close()
	content := must(plain.DecodeAll(whole, nil))(t)
	content = content[:len(content)-1024] // without the two blocks of zeros at the end
	forged := must(tarOf("../more"))(t)
	small := must(zstd.NewWriter(nil))(t)
	file := filepath.Join(t.TempDir(), "forged")
	extended := small.EncodeAll(append(content, forged...), nil)
	must(0, os.WriteFile(file, extended, 0o600))(t)
	refused(t, backup.Target{Dir: t.TempDir(), Files: s.Files}, file,
		`damaged at the end: unexpected file "../more"`)
}

// tarOf returns an archive with an empty file.
func tarOf(name string) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600})
	return b.Bytes(), errors.Join(err, w.Close())
}

// forgery changes the header and returns the new body of file n of an archive.
type forgery func(n int, head *tar.Header, body []byte) []byte

// manifestWith returns a forgery of the manifest, which is the first file.
func manifestWith(change func(*backup.Manifest)) forgery {
	return func(n int, _ *tar.Header, body []byte) []byte {
		if n != 0 {
			return body
		}
		var m backup.Manifest
		if err := json.Unmarshal(body, &m); err != nil {
			panic(err)
		}
		change(&m)
		changed, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		return changed
	}
}

// repacked returns an archive with each file as returned by forge.
func repacked(t *testing.T, whole []byte, forge forgery) []byte {
	t.Helper()
	plain := must(zstd.NewReader(bytes.NewReader(whole)))(t)
	defer plain.Close()
	var out bytes.Buffer
	small := must(zstd.NewWriter(&out))(t)
	from := tar.NewReader(plain)
	to := tar.NewWriter(small)
	for n := 0; ; n++ {
		head, err := from.Next()
		if err == io.EOF {
			break
		}
		body := forge(n, head, must(io.ReadAll(from))(t))
		head.Size = int64(len(body))
		must(0, to.WriteHeader(head))(t)
		must(to.Write(body))(t)
	}
	must(0, to.Close())(t)
	must(0, small.Close())(t)
	return out.Bytes()
}
