package config

import (
	"flag"
	"io"
	"strings"
	"testing"
)

func TestFlagsOfSettings(t *testing.T) {
	cases := []struct{ args, want string }{
		{"--listen x", "listen=x"},
		{"--listen=x=y", "listen=x=y"},
		{"--listen=", "listen="},
		{"-listen x", "listen=x"},
		{"--demo", "demo=true"},
		{"--demo=false", "demo=false"},
		{"--listen -x", "listen=-x"},
		{"--listen=--x", "listen=--x"},
		{"--http-hosts a --http-hosts b", "http.hosts=a http.hosts=a,b"},
	}
	for _, c := range cases {
		l, err := parseFlags(strings.Fields(c.args))
		var assigned []string
		for _, g := range l {
			assigned = append(assigned, g.setting.Name+"="+g.text)
		}
		if got := strings.Join(assigned, " "); err != nil || got != c.want {
			t.Errorf("%s: got %q (%v), want %q", c.args, got, err, c.want)
		}
	}
	for _, args := range []string{"a", "--listen x a", "--lisen x", "--listen"} {
		if _, err := parseFlags(strings.Fields(args)); err == nil {
			t.Errorf("%s: got no error, want one", args)
		}
	}
}

// parseFlags parses arguments that are flags of settings, with package flag.
func parseFlags(args []string) (l Layer, err error) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, f := range Flags(&l) {
		assign := func(text string) error {
			f.Set(text)
			return nil
		}
		if f.Argument == "" {
			set.BoolFunc(f.Name, f.Help, assign)
		} else {
			set.Func(f.Name, f.Help, assign)
		}
	}
	if err := set.Parse(args); err != nil {
		return nil, &UsageError{[]string{err.Error()}}
	}
	if set.NArg() > 0 {
		return nil, &UsageError{[]string{"unexpected argument " + set.Arg(0)}}
	}
	return l, nil
}
