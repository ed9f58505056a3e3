package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	cmdline "github.com/bizhook/whd/cmd/internal/cli"
)

// selectStatement matches a statement of SQL on one table. Its parts are the limit of SQL Server,
// the columns, the table, the condition, the order and the limit of other databases.
var selectStatement = regexp.MustCompile(`(?is)\bselect\s+(?:top\s+\(?(\d+)\)?\s+)?(.+?)\s+from\s+\[?(\w+)\]?` +
	`(?:\s+where\s+(.+?))?(?:\s+order\s+by\s+(.+?))?(?:\s+limit\s+(\d+))?\s*;?\s*$`)

// explainSQL returns the error of a command line with the whctl query that its SQL stands for, if
// it has a statement of SQL and a usage error.
func explainSQL(err error, args []string) error {
	if _, ok := errors.AsType[*cmdline.UsageError](err); !ok {
		return err
	}
	parts := selectStatement.FindStringSubmatch(strings.Join(args, " "))
	if parts == nil {
		return err
	}
	return &cmdline.UsageError{
		Message: "whctl reads no SQL; did you mean " + queryOf(parts) + "?",
		Command: "query",
	}
}

// queryOf returns the command line of whctl query for the parts of selectStatement.
func queryOf(parts []string) string {
	columns := parts[2]
	line := "whctl query " + parts[3]
	if strings.HasPrefix(strings.ToLower(columns), "count(") {
		line += " --count"
	} else if columns != "*" {
		line += " --fields " + strings.ReplaceAll(columns, " ", "")
	}
	if where := parts[4]; where != "" {
		line += fmt.Sprintf(" --where %q", strings.ReplaceAll(where, "'", ""))
	}
	if order := parts[5]; order != "" {
		line += fmt.Sprintf(" --order-by %q", order)
	}
	if limit := parts[1] + parts[6]; limit != "" {
		line += " --take " + limit
	}
	return line
}
