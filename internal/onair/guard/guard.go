// Package guard listens to the station's own output.
package guard
