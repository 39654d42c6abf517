//go:build !race

package imaging

const few = false
