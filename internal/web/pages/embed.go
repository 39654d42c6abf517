package pages

import (
	"fmt"
	"html"
	"net/url"
)

// OEmbedLink is the element by which a page tells other sites how it is embedded
// (https://oembed.com, 4): for the pages of a station that is reached at origin.
func OEmbedLink(origin, path, station string) string {
	return fmt.Sprintf("<link rel=\"alternate\" type=\"application/json+oembed\" href=\"%s\" title=\"%s\" />\n",
		html.EscapeString(origin+"/api/oembed?format=json&url="+url.QueryEscape(origin+path)), html.EscapeString(station))
}
