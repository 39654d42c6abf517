//go:build !soak

package demo

const soak = false
