package whd

import (
	"path/filepath"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
)

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	goldentest.Compare(t, filepath.Join("testdata", name), got)
}
