package backup_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/daemontest/roottest"
)

// TestBackupFillsDisk checks that a backup onto a full disk leaves no files, and
// keeps the previous backup of that name.
func TestBackupFillsDisk(t *testing.T) {
	roottest.Need(t)
	s := source(t)
	var room int64
	for _, f := range s.Files[:2] {
		info, err := os.Stat(filepath.Join(s.Dir, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		room += info.Size()
	}
	whole := must(os.ReadFile(saved(t, s)))(t)
	for name, size := range map[string]int64{ // in addition to the previous backup
		"no copy fits":         room / 4,
		"one fits":             room - room/8,
		"the archive does not": room + int64(len(whole))/2,
	} {
		t.Run(name, func(t *testing.T) {
			dir := roottest.SmallDisk(t, kib(size+int64(len(whole))))
			file := filepath.Join(dir, "file")
			if err := os.WriteFile(file, whole, 0o600); err != nil { // the previous backup
				t.Fatal(err)
			}
			_, err := backup.Write(t.Context(), s, file)
			isFull := err != nil && (strings.Contains(err.Error(), "full") || errors.Is(err, syscall.ENOSPC))
			if !isFull {
				t.Errorf("a backup: got error %v, want one of a full disk", err)
			}
			wantNames(t, dir, "file")
			if err := backup.Verify(t.Context(), file); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("restore", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		dir := roottest.SmallDisk(t, kib(room/2))
		refused(t, backup.Target{Dir: dir, Files: s.Files}, file, "bytes required")
	})
}

func kib(bytes int64) string { return fmt.Sprintf("%dk", bytes>>10) }
