// Package arch contains tests of the structure only: allowed imports, libraries and their
// uses, the public API, and words. `make arch` prints sizes of packages and types, which no
// test limits.
package arch
