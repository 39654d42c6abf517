// Package athir carries the files of the repository's root that the program
// needs inside its binary.
package athir

import _ "embed"

// ExampleSettings is athir.example.yaml: the manual of every setting, and the
// template of the settings file that a first start writes.
//
//go:embed athir.example.yaml
var ExampleSettings []byte
