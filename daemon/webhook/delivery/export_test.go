package delivery

// WriteTimeout is the limit of one write, for tests with a simulated clock.
const WriteTimeout = writeTimeout
