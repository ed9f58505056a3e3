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

// licences are those that a module may have, by words that only their texts
// hold, in this order. All of them let a company use, change and pass on the
// software without opening its own.
var licences = []struct{ name, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"Zlib", "This software is provided 'as-is', without any express or implied warranty"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"BSD-3-Clause", "may be used to endorse or promote products"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms"},
}

var spaces = regexp.MustCompile(`[\s>]+`)

// licenceOf is the licence of a module in a directory, empty for one that we
// do not know.
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

// linked are the modules that the binaries are made of, and their licences, on
// Linux: other systems have a few others.
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

// TestLicences wants a licence that we know of every module in the binaries.
func TestLicences(t *testing.T) {
	all := linked(t)
	if len(all) < 20 {
		t.Fatalf("only %d modules were found", len(all))
	}
	for path, licence := range all {
		if licence == "" {
			t.Errorf("%s has no licence that we know", path)
		}
	}
}

// licencesText returns how many modules of each licence the binaries contain in addition to
// those that are listed.
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
		parts = append(parts, fmt.Sprintf("%d of %s", count[licence], licence))
	}
	return fmt.Sprintf("With these come %d modules that they need: %s.\n", len(all), strings.Join(parts, ", "))
}
