package arch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testsOnly is a licence with obligations for binaries. Modules under it are for tests.
const testsOnly = "MPL-2.0"

// licences lists the allowed licences, each with a phrase of its text. They are tried in
// this order. All but testsOnly are permissive.
var licences = []struct{ name, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"Zlib", "This software is provided 'as-is', without any express or implied warranty"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"BSD-3-Clause", "may be used to endorse or promote products"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms"},
	{testsOnly, "Mozilla Public License Version 2.0"},
}

var spaces = regexp.MustCompile(`[\s>]+`)

// licenceOf returns the licence of the module in a directory, "" if it is not an allowed
// one.
func licenceOf(dir string) string {
	for _, pattern := range []string{"LICEN[SC]E*", "COPYING*"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			plain := spaces.ReplaceAllString(string(text), " ")
			for _, l := range licences {
				if strings.Contains(plain, l.words) {
					return l.name
				}
			}
		}
	}
	return ""
}

// linked returns the modules in the binaries for Linux, with their licences. Binaries for
// other systems contain a few others.
func linked(t *testing.T) map[string]string {
	t.Setenv("GOOS", "linux")
	all := make(map[string]string)
	for _, p := range goList(t, "-deps", "./cmd/...") {
		if p.Module != nil && p.Module.Path != module {
			all[p.Module.Path] = licenceOf(p.Module.Dir)
		}
	}
	return all
}

func TestModulesHaveAllowedLicences(t *testing.T) {
	all := linked(t)
	if len(all) < 20 {
		t.Fatalf("found %d modules, want at least 20", len(all))
	}
	for path, licence := range all {
		if licence == "" || licence == testsOnly {
			t.Errorf("%s has no allowed licence", path)
		}
	}
}

// licencesText returns a sentence with the number of indirect modules in the binaries, by
// licence.
func licencesText(t *testing.T) string {
	all := linked(t)
	for _, l := range libraries {
		delete(all, l.module)
	}
	count := make(map[string]int)
	for _, licence := range all {
		count[licence]++
	}
	var parts []string
	for _, licence := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d under %s", count[licence], licence))
	}
	return fmt.Sprintf("The binaries also contain %d indirect modules: %s.\n", len(all), strings.Join(parts, ", "))
}
