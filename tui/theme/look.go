package theme

// Ink is how text looks: the parameters of an SGR sequence, such as "1;31".
// Empty is plain.
type Ink string

// AppendInk appends text in two inks, the second of which wins.
func AppendInk(dst []byte, under, over Ink, text string) []byte {
	switch {
	case text == "":
		return dst
	case under == "" && over == "":
		return append(dst, text...)
	}
	dst = append(dst, "\x1b["...)
	dst = append(dst, under...)
	if under != "" && over != "" {
		dst = append(dst, ';')
	}
	dst = append(dst, over...)
	dst = append(dst, 'm')
	dst = append(dst, text...)
	return append(dst, "\x1b[0m"...)
}

// Paint is text in an ink.
func (i Ink) Paint(text string) string { return string(AppendInk(nil, i, "", text)) }

// Glyphs are the marks that stand for something, each one cell wide.
type Glyphs struct {
	Cut         string // behind text that is longer than its column
	Newline     string // in place of a line break
	Tab         string
	Fence       string // between the columns that stay and those that scroll
	Line        string // below the titles
	Cross       string // where the fence meets the rule
	Pointer     string // before the selected row
	Mark        string // before marked rows
	Up, Down    string // behind the title of the column that is sorted
	Less, More  string // columns to the left, to the right
	Loading     string // in rows that are on their way
	Nothing     string // in place of no value
	Replacement string // for what no terminal shows in a known width
}

// Look is how a grid is drawn.
type Look struct {
	Glyphs
	Title, Rule, Selected, Cursor, Marked, Null, Wait Ink
}
