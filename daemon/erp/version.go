package erp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/daemon/mssql"
)

// Version is the version of the ERP.
type Version struct {
	Source  string // the table and column that hold it
	Version string // the highest there; empty where there is none
	Problem string // what is wrong with it, if anything
}

// MinVersion is the version of the ERP that raises events as the service takes
// them.
const MinVersion = "07.02.01.00"

// CheckVersionSource reports what is wrong with the name of a table and a column
// in it.
func CheckVersionSource(text string) error {
	if _, _, ok := mssql.ParseColumn(text, ""); !ok {
		return fmt.Errorf("%q is not a table and a column such as dbo.SY_System.Version", text)
	}
	return nil
}

// judge takes the highest of the texts for the version: tables of versions keep
// those of before.
func (h *Version) judge(texts []string) {
	var highest []int
	for _, text := range texts {
		if v := versionOf(text); v != nil && slices.Compare(v, highest) > 0 {
			highest, h.Version = v, strings.TrimSpace(text)
		}
	}
	switch {
	case highest == nil:
		h.Problem = "it holds no version such as " + MinVersion
	case slices.Compare(highest, versionOf(MinVersion)) < 0:
		h.Problem = "webhooks need version " + MinVersion + " or later of it"
	}
}

// versionParts is how many numbers a version has. Those left out are 0.
const versionParts = 4

// versionOf reads numbers between dots, nil for what is no version.
func versionOf(text string) []int {
	parts := strings.Split(strings.TrimSpace(text), ".")
	if len(parts) > versionParts {
		return nil
	}
	numbers := make([]int, versionParts)
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return nil
		}
		numbers[i] = int(n)
	}
	return numbers
}

// maxVersions bounds what is read of a column that may not be one of versions.
const maxVersions = 1000
