package grid

import "github.com/bizhook/whd/tui/theme"

// How the screens look, in and without colours.
var (
	asciiGlyphs = theme.Glyphs{Cut: "~", Newline: "$", Tab: "|", Fence: "|", Line: "-", Cross: "+", Pointer: ">", Mark: "*",
		Up: "^", Down: "v", Less: "<", More: ">", Loading: ".", Nothing: "-", Replacement: "?"}
	fullGlyphs = theme.Glyphs{Cut: "…", Newline: "¶", Tab: "»", Fence: "│", Line: "─", Cross: "┼", Pointer: "▸", Mark: "●",
		Up: "▲", Down: "▼", Less: "‹", More: "›", Loading: "·", Nothing: "-", Replacement: "�"}
	plainLook  = &theme.Look{Glyphs: asciiGlyphs}
	colourLook = &theme.Look{Glyphs: fullGlyphs, Title: "1", Rule: "90", Selected: "1", Cursor: "7", Marked: "36", Null: "90", Wait: "2"}
)
