package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestInstallerNumbersGrow has versions as .ci/number prints them, from the earliest to the last.
func TestInstallerNumbersGrow(t *testing.T) {
	versions := []string{
		"0.0.0~20261129213000.0123abc",
		"0.0.0~20261129220000.0123abc",
		"0.0.0~20261231235959.0123abc",
		"0.1.0~alpha.1",
		"0.1.0~beta.1",
		"0.1.0~rc.1",
		"0.1.0~rc.9",
		"0.1.0~rc.10",
		"0.1.0",
		"0.1.0+1.g0123abc",
		"0.1.0+12.g0123abc+dirty",
		"0.1.1",
		"0.2.0",
		"1.0.0",
		"1.0.64+9999.g0123abc",
	}
	previous := [3]int{}
	for _, version := range versions {
		text, err := installerNumber(version)
		if err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		var n [3]int
		if _, err := fmt.Sscanf(text, "%d.%d.%d", &n[0], &n[1], &n[2]); err != nil {
			t.Fatal(err)
		}
		if n[0] > 255 || n[1] > 255 || n[2] > 65535 {
			t.Errorf("%s: got %s, which exceeds 255.255.65535", version, text)
		}
		isGreater := n[0] > previous[0] ||
			n[0] == previous[0] && n[1] > previous[1] ||
			n[0] == previous[0] && n[1] == previous[1] && n[2] > previous[2]
		if !isGreater {
			t.Errorf("%s: got %s, want more than %v of the version before", version, text, previous)
		}
		previous = n
	}
}

// TestInstallerNumbersDoNotShrink has versions of which the later may have the same number.
func TestInstallerNumbersDoNotShrink(t *testing.T) {
	for _, pair := range [][2]string{
		{"0.0.0~20261129213000.0123abc", "0.0.0~20261129214500.0123abc"},
		{"1.0.0~rc.1+30.g0123abc", "1.0.0~rc.2"},
		{"1.0.0~rc.1", "1.0.0~rc.1+30.g0123abc"},
		{"1.0.0+600.g0123abc", "1.0.0+601.g0123abc"},
		{"1.0.0+600.g0123abc", "1.0.1~alpha.1"},
	} {
		var numbers [2][3]int
		for i, version := range pair {
			text, err := installerNumber(version)
			if err != nil {
				t.Fatalf("%s: %v", version, err)
			}
			n := &numbers[i]
			if _, err := fmt.Sscanf(text, "%d.%d.%d", &n[0], &n[1], &n[2]); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Compare(numbers[0][:], numbers[1][:]) > 0 {
			t.Errorf("%s is %v, and the later %s only %v", pair[0], numbers[0], pair[1], numbers[1])
		}
	}
}

func TestInstallerNumberOfOddVersions(t *testing.T) {
	for _, version := range []string{"", "x.y", "256.0.0", "1.0.65", "0.0.0~yesterday"} {
		if got, err := installerNumber(version); err == nil {
			t.Errorf("%q: got %s, want an error", version, got)
		}
	}
}

// TestManualListsFilesOnce checks the elements of files in directories, and that their
// identifiers are the same in each version.
func TestManualListsFilesOnce(t *testing.T) {
	members := []member{{name: "LICENSE"}, {name: "cmd/a/docs/x.md"}, {name: "cmd/b/docs/x.md"}}
	text, err := manual(members)
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]int{
		`<Component `:                    3,
		`<ComponentRef `:                 3,
		`<Directory `:                    5,
		`Name="x.md"`:                    2,
		`Source="cmd/b/docs/x.md"`:       1,
		`Guid="` + identifier("LICENSE"): 1,
	} {
		if got := strings.Count(string(text), pattern); got != want {
			t.Errorf("%s occurs %d times, want %d:\n%s", pattern, got, want, text)
		}
	}
	const form = `^[0-9A-F]{8}-[0-9A-F]{4}-5[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$`
	if id := identifier("LICENSE"); !regexp.MustCompile(form).MatchString(id) {
		t.Errorf("the identifier is %s, want a GUID of version 5", id)
	}
}
