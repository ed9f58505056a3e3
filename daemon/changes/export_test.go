package changes

// WithHashVersion adds a second version of hashes, which new entries have, until the
// returned function is called.
func WithHashVersion() (restore func()) {
	hashes[2] = func(key [2]uint64, value []byte) sum { return siphash([2]uint64{key[1], key[0]}, value) }
	hashVersion = 2
	return func() {
		delete(hashes, 2)
		hashVersion = 1
	}
}
