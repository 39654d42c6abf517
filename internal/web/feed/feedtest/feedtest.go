// Package feedtest checks a podcast's feed by the rules of RSS 2.0, of Apple's podcast directory and
// of the Podcasting 2.0 namespace, as their documents state them. It knows nothing of who wrote the
// feed, and fetches nothing.
package feedtest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The namespaces, to the letter: programs compare them.
const (
	Itunes  = "http://www.itunes.com/dtds/podcast-1.0.dtd"
	Podcast = "https://podcastindex.org/namespace/1.0"
	Atom    = "http://www.w3.org/2005/Atom"
	Content = "http://purl.org/rss/1.0/modules/content/"
)

// Element is an element of a document.
type Element struct {
	Name xml.Name
	Attr map[string]string
	Text string
	In   []*Element
}

// Parse reads a document into its elements. Error: it is not well formed.
func Parse(document []byte) (*Element, error) {
	d := xml.NewDecoder(bytes.NewReader(document))
	root := &Element{}
	stack := []*Element{root}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not well formed: %w", err)
		}
		top := stack[len(stack)-1]
		switch t := token.(type) {
		case xml.StartElement:
			e := &Element{Name: t.Name, Attr: map[string]string{}}
			for _, a := range t.Attr {
				name := prefixed(a.Name.Space, a.Name.Local)
				if _, twice := e.Attr[name]; twice {
					return nil, fmt.Errorf("<%s> has %s twice", t.Name.Local, name)
				}
				e.Attr[name] = a.Value
			}
			top.In = append(top.In, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.Text += string(t)
		case xml.Directive:
			return nil, errors.New("a document type is declared: parsers of feeds refuse it")
		}
	}
	if len(root.In) != 1 {
		return nil, fmt.Errorf("%d elements at the root", len(root.In))
	}
	return root.In[0], nil
}

// All are the elements of a name within one.
func (e *Element) All(space, name string) (out []*Element) {
	for _, in := range e.In {
		if in.Name.Space == space && in.Name.Local == name {
			out = append(out, in)
		}
	}
	return out
}

// One is the first element of a name; an empty one where there is none.
func (e *Element) One(space, name string) *Element {
	if all := e.All(space, name); len(all) > 0 {
		return all[0]
	}
	return &Element{Attr: map[string]string{}}
}

// Items are those of a feed.
func (e *Element) Items() []*Element { return e.One("", "channel").All("", "item") }

// Check lists what is wrong with a feed that was fetched from an address.
func Check(document []byte, address string) []error {
	c := &checker{address: address}
	if i := bytes.IndexFunc(document, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f }); i >= 0 {
		c.wrong("a control character at byte %d", i)
	}
	if !bytes.HasPrefix(document, []byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")) {
		c.wrong("it does not begin with the declaration of UTF-8")
	}
	root, err := Parse(document)
	if err != nil {
		return append(c.errs, err)
	}
	c.root(root)
	return c.errs
}

type checker struct {
	address string
	errs    []error
	guids   map[string]bool
}

func (c *checker) wrong(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// prefixed names an element as people write it.
func prefixed(space, name string) string {
	prefix, known := map[string]string{Itunes: "itunes:", Podcast: "podcast:", Atom: "atom:", Content: "content:"}[space]
	if !known && space != "" {
		prefix = "{" + space + "}"
	}
	return prefix + name
}

// rule is how often an element stands within another, and what it may say.
type rule struct {
	space, name string
	least, most int // most 0: without end
	says        func(e *Element) error
}

// within checks the elements of one against rules; what no rule names is wrong, as nobody reads it.
func (c *checker) within(of string, e *Element, rules []rule) {
	known := map[xml.Name]bool{}
	for _, r := range rules {
		known[xml.Name{Space: r.space, Local: r.name}] = true
		name := prefixed(r.space, r.name)
		all := e.All(r.space, r.name)
		if n := len(all); n < r.least {
			c.wrong("%s: <%s> is missing", of, name)
		} else if r.most > 0 && n > r.most {
			c.wrong("%s: <%s> stands there %d times", of, name, n)
		}
		for _, one := range all {
			if r.says == nil {
				continue
			}
			if err := r.says(one); err != nil {
				c.wrong("%s: <%s>: %w", of, name, err)
			}
		}
	}
	for _, in := range e.In {
		if !known[in.Name] {
			c.wrong("%s: <%s> is none that is known there", of, prefixed(in.Name.Space, in.Name.Local))
		}
	}
	if strings.TrimSpace(e.Text) != "" {
		c.wrong("%s: text beside elements: %.40q", of, strings.TrimSpace(e.Text))
	}
}
