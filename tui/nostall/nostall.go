// Package nostall keeps bubbletea from asking the terminal for its colours
// while the program starts: one that does not answer would stall every command
// for five seconds. Packages are initialised in the order of their import paths
// once what they import is ready, and ours stands before bubbletea's.
package nostall

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
