package delivery

// WriteTimeout is the limit of one write, for tests with a simulated clock.
const WriteTimeout = writeTimeout

// LimitSequences sets the maximum number of sequences of one queue. The engine must not have
// been started.
func (e *Engine) LimitSequences(n int) { e.queues.budget.maxOfQueue = n }
