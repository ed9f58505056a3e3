package main

import "testing"

func TestNumberText(t *testing.T) {
	for want, number := range map[string]float64{
		"0":                     0,
		"0.000001":              1e-6,
		"1e-7":                  1e-7,
		"-1.5e-9":               -1.5e-9,
		"2.5e-10":               2.5e-10,
		"123456789":             123456789,
		"1e+21":                 1e21,
		"1.25e+300":             1.25e300,
		"100000000000000000000": 1e20,
	} {
		if got := numberText(number); got != want {
			t.Errorf("text of %g: got %s, want %s", number, got, want)
		}
	}
}
