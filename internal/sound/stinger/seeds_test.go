//go:build !soak

package stinger

// seeds is how many of every design the tests make.
const seeds = 6
