package main

// showChecks prints what doctor found. What is said of a configuration is grouped: of each kind the first.
func showChecks(p *page, list []check) {
	groups := map[[2]string][]check{}
	for _, c := range list {
		groups[c.group()] = append(groups[c.group()], c)
	}
	for _, c := range list {
		switch alike := groups[c.group()]; {
		case c.Kind == "" || len(alike) == 1:
			p.check(c)
		case alike != nil:
			p.checksOf(alike)
			groups[c.group()] = nil
		}
	}
}

func (c check) group() [2]string { return [2]string{c.Connector, c.Kind} }

func (p *page) sign(c check) {
	switch {
	case c.Warning:
		p.styled(warn, "! ")
	case c.OK:
		p.styled(good, "✓ ")
	default:
		p.styled(bad, "✗ ")
	}
}

func (p *page) check(c check) {
	p.sign(c)
	p.line("%s: %s", c.Check, c.Detail)
	if c.Fix != "" {
		p.styled(dim, "  → %s\n", c.Fix)
	}
	if len(c.Methods) > 0 {
		showPolicies(p, c.Methods)
	}
}

// checksShown is how many of a kind are shown one by one.
const checksShown = 3

func (p *page) checksOf(list []check) {
	first := list[0]
	p.sign(first)
	p.line("%s: %d × %s, connector %s", first.Check, len(list), first.Kind, first.Connector)
	for _, c := range list[:min(len(list), checksShown)] {
		p.line("    %s", c.Detail)
	}
	if more := len(list) - checksShown; more > 0 {
		p.styled(dim, "    %d more: --json lists all\n", more)
	}
	p.styled(dim, "  → %s\n", first.Fix)
}
