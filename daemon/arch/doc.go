// Package arch holds tests only: which package may import which, which libraries
// are used where and why, and bounds for the size of packages and types. `make
// arch` prints what does not keep to them yet.
package arch
