package dialect

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bizhook/whd/client/record"
)

func dialects() []*Dialect { return []*Dialect{TSQL(), SQLite()} }

// TestMatches: every operator with one operand has SQL; Between and In, which are compiled
// separately, have none.
func TestMatches(t *testing.T) {
	for _, o := range record.Operators() {
		hasSQL := Matches[o].SQL != ""
		if wantSQL := o.Arity() == record.One; hasSQL != wantSQL {
			t.Errorf("%s: got %+v, want SQL: %v", o, Matches[o], wantSQL)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, c := range []struct {
		name, tsql, sqlite string
	}{
		{"InvoiceID", "[InvoiceID]", `"InvoiceID"`},
		{"Größe 1", "[Größe 1]", `"Größe 1"`},
		{`a]b"c[d`, `[a]]b"c[d]`, `"a]b""c[d"`},
		{"", "[]", `""`},
	} {
		if got, want := string(TSQL().Quote([]byte("x."), c.name)), "x."+c.tsql; got != want {
			t.Errorf("%s in T-SQL: got %s, want %s", c.name, got, want)
		}
		if got, want := string(SQLite().Quote([]byte("x."), c.name)), "x."+c.sqlite; got != want {
			t.Errorf("%s in SQLite: got %s, want %s", c.name, got, want)
		}
	}
}

// TestQuoteEscapesName: no name can close the quotes around it.
func TestQuoteEscapesName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOf(rapid.RuneFrom([]rune(`ab]["';-é`))).Draw(t, "name")
		for _, d := range dialects() {
			quoted := string(d.Quote(nil, name))
			inside := strings.TrimSuffix(strings.TrimPrefix(quoted, d.OpenQuote), d.CloseQuote)
			escaped := d.CloseQuote + d.CloseQuote
			if read := strings.ReplaceAll(inside, escaped, d.CloseQuote); read != name {
				t.Fatalf("%s: %s becomes %s, which is read as %s", d.Name, name, quoted, read)
			}
			if strings.Contains(strings.ReplaceAll(inside, escaped, ""), d.CloseQuote) {
				t.Fatalf("%s: %s becomes %s, which closes its quotes", d.Name, name, quoted)
			}
		}
	})
}

func TestOperand(t *testing.T) {
	const text = `50%_[a-f]^]\`
	const escaped = `50[%][_][[]a-f]^]\`
	for operator, want := range map[record.Operator]string{
		record.Equal:      text,
		record.StartsWith: escaped + "%",
		record.EndsWith:   "%" + escaped,
		record.Contains:   "%" + escaped + "%",
		record.Like:       text,
	} {
		if got := Matches[operator].Operand(text); got != want {
			t.Errorf("%s: got %s, want %s", operator, got, want)
		}
	}
}

// TestOperandIsLiteral: all wildcards of the text are in brackets, and without the brackets
// the text is unchanged.
func TestOperandIsLiteral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune(`ab%_[]^-é`))).Draw(t, "text")
		pattern := Matches[record.Contains].Operand(text)
		pattern = pattern[1 : len(pattern)-1]
		var literal strings.Builder
		for pattern != "" {
			if len(pattern) >= 3 && pattern[0] == '[' && pattern[2] == ']' {
				literal.WriteByte(pattern[1])
				pattern = pattern[3:]
				continue
			}
			if strings.ContainsRune("%_[", rune(pattern[0])) {
				t.Fatalf("unescaped wildcard at %q", pattern)
			}
			literal.WriteByte(pattern[0])
			pattern = pattern[1:]
		}
		if literal.String() != text {
			t.Fatalf("%q is matched as %q", text, literal.String())
		}
	})
}
