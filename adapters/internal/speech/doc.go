// Package speech tells a model's words once where a CLI prints them twice: as pieces
// while they are said and, block by block, as a whole. It owns the order of blocks
// and items and knows no dialect.
//
// It is pure and imports actors packages only.
package speech
