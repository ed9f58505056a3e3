// Package sample has a case of each rule.
package sample

import "os"

type log struct{ lines []string }

func (l *log) add(line string) bool {
	l.lines = append(l.lines, line)
	return true
}

var m = map[string]int{}

func find(string) (int, error) { return 0, nil }

func headers(l *log, names []string) error {
	if n, err := find("a"); err != nil {
		return err
	} else if n > 1 {
		return nil
	}
	if n, ok := m["a"]; ok && n > 0 {
		return nil
	}
	if count := len(names); count != 2 {
		return nil
	}
	var err error
	if err = os.Remove("a"); err != nil {
		return err
	}
	var n int
	if n, err = find("b"); err != nil {
		return err
	}
	if l.add("a"); n > 0 { // want `an effect in a header`
		return nil
	}
	if n = len(names); n > 1 { // want `an assignment in a header`
		return nil
	}
	if n++; n > 1 { // want `an effect in a header`
		return nil
	}
	if first := names[0]; l.add("b") { // want `tests none of the values`
		_ = first
	}
	if delete(m, "a"); n > 1 { // want `an effect in a header`
		return nil
	}
	switch err := os.Remove("b"); {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return err
	default:
		return nil
	}
}

func typed(l *log, v any) int {
	switch l.add("typed"); v := v.(type) { // want `an effect in a header`
	case int:
		return v
	}
	return 0
}

func parallel(names []string) {
	a, b := 1, 2
	a, b = b, a
	var x, y, z = 1, 2, 3 // want `three or more values`
	x, y, z = z, x, y     // want `three or more values`
	p, q, r := func() (int, int, int) { return 1, 2, 3 }()
	_, _, _, _, _, _, _, _ = a, b, x, y, z, p, q, r // want `three or more values`
}

var table = map[bool]int{true: 1}

func lookups(now bool, i int) int {
	return map[bool]int{true: 1, false: -1}[now] + // want `a look-up in a literal`
		([]int{1, 2})[i] + // want `a look-up in a literal`
		table[now]
}

func switches(a, b, c bool) int {
	switch { // want `fewer than three alternatives`
	case a:
		return 1
	case b:
		return 2
	}
	switch {
	case a && b:
		return 1
	case a && b && c: // want `more than two conditions`
		return 2
	default:
		return 3
	}
}

type range_ struct{ of, more int }

func names(given string, other string) (all []string) { // want `given is a function word`
	one := 1                   // want `one is a function word`
	any := ""                  // not a bool
	for _, is := range other { // want `is is a function word`
		_ = is
	}
	r := range_{of: one, more: 2}
	_, _ = r, any
	return append(all, given)
}

func quantifiers(all bool) bool { // want `all is a function word`
	return all
}
