package changes

// Resumption determines the fate of the differences that a stopped capture has found.
type Resumption string

// The resumptions.
const (
	Raise  Resumption = "raise"  // they become changes
	Silent Resumption = "silent" // the shadow is filled again; followers have to resynchronize
)
