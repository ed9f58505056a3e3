package config

import (
	"strings"
	"testing"
)

func TestParseOptions(t *testing.T) {
	cases := []struct{ args, rest, set string }{
		{"a --name x b", "a b", "name=x"},
		{"--name=x=y", "", "name=x=y"},
		{"--name= a", "a", "name="},
		{"-name x", "", "name=x"},
		{"--switch a", "a", "switch=true"},
		{"--switch=false", "", "switch=false"},
		{"--name -x", "", "name=-x"},
		{"--name=--x", "", "name=--x"},
		{"- a", "- a", ""},
		{"a -- --name b", "a --name b", ""},
	}
	for _, c := range cases {
		var set []string
		note := func(name string) func(string) error {
			return func(text string) error { set = append(set, name+"="+text); return nil }
		}
		rest, err := ParseOptions(strings.Fields(c.args), []Option{{Name: "name", Argument: "TEXT", Set: note("name")}, {Name: "switch", Set: note("switch")}})
		if err != nil || strings.Join(rest, " ") != c.rest || strings.Join(set, " ") != c.set {
			t.Errorf("%s: rest %q, set %q, %v", c.args, rest, set, err)
		}
	}
}
