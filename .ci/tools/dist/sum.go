package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sums is the name of the file with the checksums, in the format of sha256sum.
const sums = "SHA256SUMS"

// sum writes the SHA-256 checksums of all files of a directory, sorted by name.
func sum(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, entry := range entries {
		if entry.IsDir() || entry.Name() == sums {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(content), entry.Name())
	}
	return os.WriteFile(filepath.Join(dir, sums), []byte(b.String()), 0o644)
}
