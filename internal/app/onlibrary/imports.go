package onlibrary

import (
	"github.com/athir-radio/athir/internal/config"
	"github.com/athir-radio/athir/internal/import/apply"
	"github.com/athir-radio/athir/internal/import/desk"
	"github.com/athir-radio/athir/internal/import/origin"
)

// openImports opens what brings over other systems' stations, through this one's own API.
func (l *Library) openImports(o Options) error {
	networks, err := o.Config.Content.NetworkList()
	if err != nil {
		return err
	}
	key := o.Config.Secret(config.StationKey)
	l.Imports = desk.Open(desk.Options{
		Dir: origin.Folder(o.Config.DataDir), Log: o.Log, Fetch: origin.Client(o.Version, networks, "content.networks"),
		Station: func() apply.Station {
			return apply.Station{Base: "http://" + config.Local(o.Config.Ports.Control), Key: key.Current()}
		},
	})
	return nil
}
