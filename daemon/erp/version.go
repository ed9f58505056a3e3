package erp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bizhook/whd/daemon/mssql"
)

// Version is the version of the ERP.
type Version struct {
	Source  string // table and column of the version
	Version string // highest version found; empty if none
	Problem string // why the version is missing or too low; empty if it is neither
}

// MinVersion is the lowest version of the ERP that sends events as this service
// expects them.
const MinVersion = "07.02.01.00"

// CheckVersionSource returns an error unless text is the name of a table and one of
// its columns.
func CheckVersionSource(text string) error {
	if _, _, ok := mssql.ParseColumn(text, ""); !ok {
		return fmt.Errorf("%q is not a table and a column such as dbo.SY_System.Version", text)
	}
	return nil
}

// evaluate sets Version to the highest version in texts, since tables of versions also
// contain earlier ones, and Problem if there is none or it is too low.
func (v *Version) evaluate(texts []string) {
	var highest []int
	for _, text := range texts {
		numbers := versionOf(text)
		if numbers != nil && slices.Compare(numbers, highest) > 0 {
			highest = numbers
			v.Version = strings.TrimSpace(text)
		}
	}
	if highest == nil {
		v.Problem = "it contains no version such as " + MinVersion
	} else if slices.Compare(highest, versionOf(MinVersion)) < 0 {
		v.Problem = "webhooks require version " + MinVersion + " or later"
	}
}

// ERPVersion returns the version of the ERP, empty if it is not known: no source is
// configured, or the source has none.
func (r *Records) ERPVersion(ctx context.Context) (string, error) {
	v, err := r.version(ctx)
	if v == nil || err != nil {
		return "", err
	}
	return v.Version, nil
}

// versionParts is the number of parts of a version. Omitted parts are 0.
const versionParts = 4

// versionOf parses numbers separated by dots. It returns nil if text is not a version.
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

// maxVersions limits the rows read from the version column, which may be misconfigured.
const maxVersions = 1000
