// Package readmetest holds the test that follows the README from top to bottom.
package readmetest
