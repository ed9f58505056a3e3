// Package arch contains tests of the structure only: allowed imports, libraries and their
// uses, sizes of packages and types, the public API, and words. `make arch` prints the
// remaining violations.
package arch
