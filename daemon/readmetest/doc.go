// Package readmetest holds the tests of the README and the manual: every command of
// every page is run, its printed output compared, links are followed, and the pictures
// and tables that are generated from the programs are up to date.
package readmetest
