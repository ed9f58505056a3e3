package store

import (
	"database/sql"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/audit"
)

// written is the step of a transaction that writes down what its other steps
// have changed.
func written(e audit.Entry) step {
	return step{`INSERT INTO whd.WH_Audit (AddedDateTime, UserName, Via, Address, Action, Subject, Detail)
VALUES (@Added, @UserName, @Via, @Address, @Action, @Subject, @Detail)`, []any{
		sql.Named("Added", stamp(e.At)), sql.Named("UserName", fitting(e.Who, 256)), sql.Named("Via", fitting(e.Via, 16)),
		sql.Named("Address", fitting(e.Address, 64)), sql.Named("Action", fitting(string(e.Action), 64)),
		sql.Named("Subject", fitting(e.Subject, 256)), sql.Named("Detail", fitting(e.Detail, 2000)),
	}, true}
}

// fitting cuts a text to what its column holds, counted in bytes, of which no
// text has fewer than the characters that the server counts.
func fitting(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
